/**
 * The licences and notices of everything inside the executable. The executable carries them finished: `build/bundle.ts`
 * replaces this file. Run from source, they are gathered on the spot.
 */
export const notices = async (): Promise<string> => (await import('../../build/notices.ts')).notices()
