/**
 * The console's page as the browser gets it. The executable carries it finished: `build/bundle.ts` replaces this file.
 * Run from source, it is bundled when the page is first asked for.
 */
import type { WebFiles } from '../../build/web.ts'

/** @throws AggregateError in the bundler's words */
export const consoleFiles = async (): Promise<WebFiles> => (await import('../../build/web.ts')).webFiles()
