/**
 * Holds the form of the code: which folder may import which (the picture in ARCHITECTURE.md), lengths, names, and what
 * must not be left behind. Each rule names every offender with its line, so that one run shows everything that must be
 * fixed.
 */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dir, '..')

interface Reference {
  /** From the repository's root; or a package's name. */
  target: string
  typeOnly: boolean
  line: number
}

interface Source {
  path: string
  lines: readonly string[]
  tree: ts.SourceFile
  references: readonly Reference[]
}

const sources: readonly Source[] = [...new Bun.Glob('{src,build,scripts}/**/*.{ts,tsx}').scanSync({ cwd: root })]
  .filter((path) => !path.startsWith('build/out/'))
  .sort()
  .map(readSource)

const isTest = (path: string): boolean => path.endsWith('.test.ts')
/** Runs in tests only. */
const isForTests = (path: string): boolean =>
  isTest(path) || path.endsWith('.fixture.ts') || path.startsWith('src/testing/')
const product = sources.filter(({ path }) => path.startsWith('src/') && !isForTests(path))
const tests = sources.filter(({ path }) => isTest(path) && path !== 'src/tidy.test.ts')

function readSource(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const references: Reference[] = []
  const add = (at: ts.Node, specifier: ts.Node | undefined, typeOnly: boolean) => {
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return
    const isFile = specifier.text.startsWith('.') || isScript(specifier, path)
    const target = isFile ? relative(root, resolve(root, dirname(path), specifier.text)) : specifier.text
    references.push({ target, typeOnly, line: lineOf(tree, at) })
  }
  visit(tree, (node) => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, isTypeOnly(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node, node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isCallExpression(node) && isImport(node)) add(node, node.arguments[0], false)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node, node.argument.literal, true)
    else if (ts.isStringLiteral(node) && isScript(node, path)) add(node, node, false)
  })
  return { path, lines: text.split('\n'), tree, references }
}

/** A file that runs in another thread or process: `new URL('./x-worker.ts', ...)`, `join(folder, 'x.fixture.ts')`. */
function isScript(node: ts.StringLiteral, path: string): boolean {
  const { parent } = node
  const isArgument = ts.isNewExpression(parent) || (ts.isCallExpression(parent) && !isImport(parent))
  return isArgument && node.text.endsWith('.ts') && existsSync(resolve(root, dirname(path), node.text))
}

function isImport(call: ts.CallExpression): boolean {
  return call.expression.kind === ts.SyntaxKind.ImportKeyword
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.isTypeOnly) return true
  const { name, namedBindings } = clause
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false
  return namedBindings.elements.every((element) => element.isTypeOnly)
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node)
  ts.forEachChild(node, (child) => visit(child, see))
}

function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1
}

/** `path:line what` for each node that `judge` reports. */
function offendingNodes(among: readonly Source[], judge: (node: ts.Node, source: Source) => string | null): string[] {
  const found: string[] = []
  for (const source of among) {
    visit(source.tree, (node) => {
      const what = judge(node, source)
      if (what !== null) found.push(`${source.path}:${lineOf(source.tree, node)} ${what}`)
    })
  }
  return found
}

function offendingLines(among: readonly Source[], judge: (line: string, above: string) => boolean): string[] {
  return among.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      judge(line, lines[index - 1] ?? '') ? [`${path}:${index + 1} ${line.trim().slice(0, 100)}`] : [],
    ),
  )
}

/**
 * What each part may import besides itself: the start of a path below src/. The child side of `engine` runs in another
 * process and alone may reach the models.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  text: ['domain/'],
  book: ['text/', 'domain/'],
  phonemes: ['text/', 'domain/'],
  audio: ['domain/', 'text/', 'service/ports', 'embedded/packed.ts', 'embedded/libopus.ts'],
  service: ['domain/', 'text/'],
  store: ['service/', 'domain/'],
  http: ['service/', 'domain/', 'web/', 'realtime/', 'embedded/packed.ts'],
  realtime: ['service/', 'domain/', 'audio/'],
  wyoming: ['service/', 'domain/', 'text/', 'audio/'],
  audit: [],
  backup: ['audit/'],
  catalog: ['service/', 'domain/', 'embedded/'],
  cuda: ['catalog/', 'domain/'],
  embedded: ['domain/'],
  engine: ['service/ports', 'domain/'],
  'engine child': ['service/ports', 'domain/', 'engine/', 'models/', 'onnx/', 'audio/', 'text/', 'catalog/cards.ts'],
  onnx: ['domain/', 'engine/protocol.ts', 'embedded/onnx-runtime.ts'],
  models: ['onnx/', 'audio/', 'phonemes/', 'text/', 'domain/', 'embedded/', 'engine/protocol.ts'],
  // The hidden subcommand that is the engine: the one command that may know the models.
  'engine command': ['cli/', 'domain/', 'catalog/', 'engine/', 'onnx/', 'models/registry.ts', 'config.ts', 'log.ts'],
  cli: [
    'cli/',
    'domain/',
    'text/',
    'book/',
    'service/',
    'store/',
    'audit/',
    'backup/',
    'http/',
    'wyoming/',
    'realtime/',
    'catalog/',
    'embedded/',
    'cuda/',
    'engine/',
    'audio/',
    'config.ts',
    'log.ts',
  ],
  web: ['book/'],
  'main.ts': ['cli/'],
}

function partOf(file: string): string {
  if (file.startsWith('engine/child/')) return 'engine child'
  if (file === 'cli/serve/engine.ts') return 'engine command'
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file
}

test('imports follow the table', () => {
  const offenders: string[] = []
  for (const { path, references } of product) {
    const part = partOf(path.slice('src/'.length))
    for (const { target, typeOnly, line } of references) {
      if (!target.startsWith('src/')) continue
      const file = target.slice('src/'.length)
      const allowed =
        partOf(file) === part ||
        (typeOnly && file === 'config.ts') ||
        mayImport[part]?.some((start) => file.startsWith(start))
      if (!allowed) offenders.push(`${path}:${line} ${part} may not import ${file}`)
    }
  }
  expect(offenders).toEqual([])
})

test('only src/embedded reaches into build/, whose plug-ins replace it in the executable', () => {
  const offenders = product.flatMap(({ path, references }) =>
    references
      .filter(({ target }) => target.startsWith('build/') && !path.startsWith('src/embedded/'))
      .map(({ target, line }) => `${path}:${line} ${target}`),
  )
  expect(offenders).toEqual([])
})

test('no file imports itself through others', () => {
  const files = new Map(product.map(({ path, references }) => [path, references.map(({ target }) => target)]))
  const finished = new Set<string>()
  const cycles: string[] = []
  const follow = (path: string, way: readonly string[]) => {
    if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path].join(' -> '))
    if (way.includes(path) || finished.has(path)) return
    for (const target of files.get(path) ?? []) follow(target, [...way, path])
    finished.add(path)
  }
  for (const path of files.keys()) follow(path, [])
  expect(cycles.filter((cycle) => !cycle.startsWith('src/store/'))).toEqual([])
})

test('the domain needs no package and no system', () => {
  const domain = product.filter(({ path }) => path.startsWith('src/domain/'))
  const offenders = domain.flatMap(({ path, references }) =>
    references
      .filter(({ target }) => !target.startsWith('src/'))
      .map(({ target, line }) => `${path}:${line} ${target}`),
  )
  expect(offenders).toEqual([])
})

test('only config.ts reads the environment', () => {
  const environments = ['process.env', 'Bun.env', 'import.meta.env']
  const others = product.filter(({ path }) => path !== 'src/config.ts')
  const offenders = offendingNodes(others, (node) =>
    ts.isPropertyAccessExpression(node) && environments.includes(node.getText()) ? node.getText() : null,
  )
  expect(offenders).toEqual([])
})

test('files, functions and lines keep their lengths', () => {
  const files = sources.filter(({ lines }) => lines.length > 401)
  const functions = offendingNodes(sources, (node, { tree }) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined || isGroup(node)) return null
    const length = tree.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - lineOf(tree, node)
    return length > 70 ? `a function of ${length} lines` : null
  })
  const lines = offendingLines(sources, (line) => line.length > 120)
  expect([...files.map(({ path, lines: { length } }) => `${path}: ${length} lines`), ...functions, ...lines]).toEqual(
    [],
  )
})

/** `describe(name, () => { ... })` is a list of tests. */
const isGroup = (node: ts.Node): boolean =>
  ts.isCallExpression(node.parent) && node.parent.expression.getText().startsWith('describe')

test('every file says at its top what it is for', () => {
  const silent = product.filter(({ lines }) => !lines[0]?.startsWith('/**'))
  expect(silent.map(({ path }) => path)).toEqual([])
})

test('names avoid the words that mean everything', () => {
  const vague = /^(jobs?|managers?|handlers?|helpers?|utils?)$/
  const isVague = (name: string) =>
    name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).some((word) => vague.test(word.toLowerCase()))
  const named = offendingNodes(sources, (node) => {
    if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node)) return null
    const declared = 'name' in node.parent && node.parent.name === node && !ts.isPropertyAccessExpression(node.parent)
    return declared && !ts.isImportSpecifier(node.parent) && isVague(node.text) ? node.text : null
  })
  expect([...sources.filter(({ path }) => isVague(path)).map(({ path }) => path), ...named]).toEqual([])
})

test('types are explicit: no any, no enum; exports have names', () => {
  // The declarations of imported files (x.sql, x.onnx) have a default export by nature.
  const code = sources.filter(({ path }) => !path.endsWith('.d.ts'))
  const offenders = offendingNodes(code, (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) return 'any'
    if (ts.isEnumDeclaration(node)) return 'enum'
    return ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword ? defaultExport(node) : null
  })
  expect(offenders).toEqual([])
})

/** `default:` of a switch is allowed. */
const defaultExport = (node: ts.Node): string | null =>
  ts.isExportAssignment(node) || ts.canHaveModifiers(node.parent) ? 'default export' : null

const isComment = (line: string): boolean => /^\s*(\/\/|\/?\*)/.test(line)
const documents = [
  ...new Bun.Glob('{*.md,docs/*.md,src/*.md,.github/**/*.{md,yml}}').scanSync({ cwd: root, dot: true }),
]
const files = ['*', '{src,scripts,build,docs,models}/**/*', '{.github,.ci}/**/*'].flatMap((pattern) => [
  ...new Bun.Glob(pattern).scanSync({ cwd: root, dot: true }),
])

test('comments and documents name files, and sections of docs/api.md, that exist', () => {
  const sections = new Set(
    [...readFileSync(join(root, 'docs/api.md'), 'utf8').matchAll(/^#+ (\d+(?:\.\d+)?)/gm)].map((found) => found[1]),
  )
  const faultsOf = (line: string): string[] => {
    // x.ts and the like are patterns; a package's own files have its name before them.
    const named = [
      ...line.matchAll(/(?<![\w@./*{-])(?:\.\/)?([\w./-]+\.(?:md|tsx?|sql|sh|css)|scripts\/[\w-]+\.py)\b/g),
    ]
    const gone = named.map((found) => found[1] ?? '').filter((name) => !/(^|\/)x[.-]/.test(name) && !isFile(name))
    const citation = /docs\/api\.md ((?:\d+(?:\.\d+)?(?:, | to | and )?)+)/.exec(line)?.[1] ?? ''
    const cited = [...citation.matchAll(/\d+(?:\.\d+)?/g)].map(([section]) => section)
    return [...gone, ...cited.filter((at) => !sections.has(at)).map((at) => `section ${at}`)]
  }
  const isFile = (name: string) => files.some((file) => file === name || file.endsWith(`/${name}`))
  const inComments = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => (isComment(line) ? faultsOf(line).map((what) => `${path}:${at + 1} ${what}`) : [])),
  )
  const inDocuments = documents.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const links = [...text.matchAll(/\]\((?!http)([^)#]+)/g)].map((found) => found[1] ?? '')
    const broken = links.filter((link) => !existsSync(resolve(root, dirname(path), link)) && !isFile(link))
    return [...broken, ...text.split('\n').flatMap(faultsOf)].map((what) => `${path} ${what}`)
  })
  expect([...inComments, ...inDocuments]).toEqual([])
})

test('no comment promises work', () => {
  const marks = /(\/\/|\*).*\b(TODO|FIXME|XXX|HACK)\b/
  expect(offendingLines(sources, (line) => marks.test(line) && !line.includes('const marks'))).toEqual([])
})

test('no route answers with a generator: Elysia ends its failure as a complete answer', () => {
  const http = product.filter(({ path }) => path.startsWith('src/http/'))
  const offenders = offendingNodes(http, (node) =>
    (ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isMethodDeclaration(node)) &&
    node.asteriskToken !== undefined
      ? 'generator'
      : null,
  )
  expect(offenders).toEqual([])
})

test('no view is sent to another thread or process: it drags its whole buffer along', () => {
  const offenders = offendingLines(
    product,
    (line) => /\bsubarray\(/.test(line) && /(\bpostMessage|[^#\w]send)\(/.test(line),
  )
  expect(offenders).toEqual([])
})

test('tests run: none is singled out, and one that may be skipped says why in the line above', () => {
  const only = offendingLines(tests, (line) => /\b(test|it|describe)\.only\b/.test(line))
  const skipped = offendingLines(
    tests,
    (line, above) => /\b(test|it|describe)\.(skip|skipIf|todo|todoIf|if)\b/.test(line) && !isComment(above),
  )
  expect([...only, ...skipped]).toEqual([])
})

test('tests wait for a state or an event, never for a time', () => {
  const waits = ['Bun.sleep', 'Bun.sleepSync', 'setTimeout', 'setInterval']
  const offenders = offendingNodes(tests, (node) =>
    ts.isCallExpression(node) && waits.includes(node.expression.getText()) ? node.expression.getText() : null,
  )
  expect(offenders).toEqual([])
})

test('every file is used: by the program, or for the tests by a test', () => {
  const entries = ['src/main.ts', 'src/web/main.tsx']
  const usedBy = (among: readonly Source[]) =>
    new Set(among.flatMap(({ path, references }) => references.map(({ target }) => target).filter((to) => to !== path)))
  const byProgram = usedBy(sources.filter(({ path }) => !isForTests(path)))
  const byAnything = usedBy(sources)
  const unused = sources.filter(({ path }) => {
    if (!path.startsWith('src/') || isTest(path) || path.endsWith('.d.ts') || entries.includes(path)) return false
    return !(isForTests(path) ? byAnything : byProgram).has(path)
  })
  expect(unused.map(({ path }) => path)).toEqual([])
})

test('a value is exported because another file uses it; a type may say what a function takes', () => {
  const named = new Map<string, number>()
  for (const { tree } of sources) {
    const names = new Set<string>()
    visit(tree, (node) => void (ts.isIdentifier(node) && names.add(node.text)))
    for (const name of names) named.set(name, (named.get(name) ?? 0) + 1)
  }
  const isExported = (node: ts.Node): boolean =>
    ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
  const isAlone = (name: ts.Node | undefined): boolean =>
    name !== undefined && ts.isIdentifier(name) && named.get(name.text) === 1
  const code = sources.filter(({ path }) => !path.endsWith('.d.ts'))
  const offenders = offendingNodes(code, (node) => {
    if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node))
      return isExported(node) && isAlone(node.name) ? (node.name?.text ?? null) : null
    if (!ts.isVariableStatement(node) || !isExported(node)) return null
    const names = node.declarationList.declarations.map(({ name }) => name).filter(isAlone)
    return names.length > 0 ? names.map((name) => name.getText()).join(', ') : null
  })
  expect(offenders).toEqual([])
})

test('dependencies are pinned, and the lock names no registry', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { dependencies, devDependencies } = manifest as Record<string, Record<string, string>>
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  )
  expect(loose).toEqual([])
  expect(readFileSync(join(root, 'bun.lock'), 'utf8')).not.toMatch(/https?:\/\//)
})
