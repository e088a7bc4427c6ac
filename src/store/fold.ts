/** Texts as they are compared: without case, and in one form each. SQLite by itself knows the case of ASCII only. */
export const fold = (text: string): string => text.normalize('NFKC').toLowerCase()
