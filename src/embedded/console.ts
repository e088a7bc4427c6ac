/**
 * The console's page for the browser. The executable contains it: `build/bundle.ts` replaces this file. When run from
 * source, it is bundled on first request.
 */
import type { WebFiles } from '../../build/web.ts'

/** @throws AggregateError in the bundler's words */
export const consoleFiles = async (): Promise<WebFiles> => (await import('../../build/web.ts')).webFiles()
