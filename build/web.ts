/**
 * The console's page for the browser: one script and one style, bundled from `src/web`, and two scripts that are
 * fetched on demand: the one of its audio thread, and the plot library. The executable contains them; when run from
 * source, they are made on first request.
 */
import { join, resolve } from 'node:path'
import type { BuildArtifact, BuildConfig } from 'bun'

export interface WebFiles {
  script: string
  style: string
  recorder: string
  /** The plot library. */
  plot: string
}

const folder = join(resolve(import.meta.dir, '..'), 'src/web')

export const webConfig: BuildConfig = {
  entrypoints: [join(folder, 'main.tsx')],
  target: 'browser',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
}

/** @throws AggregateError with the bundler's messages */
export async function webFiles(): Promise<WebFiles> {
  const page = await Bun.build(webConfig)
  const alone = (path: string) => Bun.build({ ...webConfig, entrypoints: [join(folder, path)] })
  const thread = await alone('recording/recorder-worklet.ts')
  const library = await alone('usage/plot-library.ts')
  return {
    script: await textOf(page.outputs, '.js'),
    style: await textOf(page.outputs, '.css'),
    recorder: await textOf(thread.outputs, '.js'),
    plot: await textOf(library.outputs, '.js'),
  }
}

async function textOf(outputs: readonly BuildArtifact[], kind: string): Promise<string> {
  const file = outputs.find(({ path }) => path.endsWith(kind))
  if (file === undefined) throw new Error(`the bundler made no ${kind} of the console`)
  return file.text()
}
