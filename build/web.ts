/**
 * The console's page as the browser gets it: one script and one style, bundled from `src/web`. The executable carries
 * them finished; run from source, they are made when the page is first asked for.
 */
import { join, resolve } from 'node:path'
import type { BuildConfig } from 'bun'

export interface WebFiles {
  script: string
  style: string
}

export const webConfig: BuildConfig = {
  entrypoints: [join(resolve(import.meta.dir, '..'), 'src/web/main.tsx')],
  target: 'browser',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
}

/** @throws AggregateError in the bundler's words */
export async function webFiles(): Promise<WebFiles> {
  const built = await Bun.build(webConfig)
  const textOf = async (kind: string): Promise<string> => {
    const file = built.outputs.find(({ path }) => path.endsWith(kind))
    if (file === undefined) throw new Error(`the bundler made no ${kind} of the console`)
    return file.text()
  }
  return { script: await textOf('.js'), style: await textOf('.css') }
}
