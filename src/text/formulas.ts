/** LaTeX between dollars or `\( \)`, as language models write formulas, in words. */

/** Where formulas are: the position after each, and its words, by its start. */
export type Formulas = ReadonlyMap<number, { to: number; words: string }>

/** A dollar of money has a digit or a space where that of a formula has a sign. */
const displayPattern = /\$\$([^$]{1,1000})\$\$|\\\[([^$]{1,1000}?)\\\]|\\\(([^$\n]{1,400}?)\\\)/g
const inlinePattern = /(?<![\w$\\])\$(?! )([^$\n]{1,400}?)(?<! )\$(?![\d$A-Za-z])/g

export function formulasIn(text: string): Formulas {
  const found = new Map<number, { to: number; words: string }>()
  if (!text.includes('$') && !text.includes('\\')) return found
  for (const match of text.matchAll(displayPattern)) {
    const tex = (match[1] ?? match[2] ?? match[3]) as string
    found.set(match.index, { to: match.index + match[0].length, words: spokenFormula(tex) })
  }
  for (const match of text.matchAll(inlinePattern)) {
    const tex = match[1] as string
    if (isFormula(tex)) found.set(match.index, { to: match.index + match[0].length, words: spokenFormula(tex) })
  }
  return found
}

const isFormula = (tex: string): boolean =>
  /[\\^_={}]/.test(tex) || /^[-+]?\d{0,4}[A-Za-z]$|^[A-Za-z]\(|^[A-Za-z\d]+ ?[-+*/<>] ?[A-Za-z\d]+$/.test(tex)

/** A command and its braces outside of a formula: `\frac{1}{2}`. */
const commandPattern = /\\([A-Za-z]{2,12})(?:\{[^{}\n]{0,80}\}){0,2}/y

/** @returns null if what begins at the backslash is no command: the folder of a path, an escaped sign */
export function commandAt(text: string, at: number): { to: number; words: string } | null {
  if (/[A-Za-z:\\]/.test(text[at - 1] ?? '')) return null
  commandPattern.lastIndex = at
  const found = commandPattern.exec(text)
  if (found === null) return null
  const name = found[1] as string
  const isKnown = Object.hasOwn(commands, name) || looks.has(name) || /^(?:[dt]?frac|sqrt)$/.test(name)
  return isKnown ? { to: at + found[0].length, words: spokenFormula(found[0]) } : null
}

const greek =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega'
const functions: Readonly<Record<string, string>> = {
  sin: 'sine',
  cos: 'cosine',
  tan: 'tangent',
  log: 'log',
  ln: 'natural log of',
  exp: 'exp',
  min: 'min',
  max: 'max',
  lim: 'limit',
  det: 'det',
  gcd: 'gcd',
  mod: 'mod',
}
const commands: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    greek.split(' ').flatMap(
      (name) =>
        [
          [name, name],
          [capitalised(name), name],
        ] as const,
    ),
  ),
  ...functions,
  varepsilon: 'epsilon',
  varphi: 'phi',
  times: 'times',
  cdot: 'times',
  div: 'divided by',
  pm: 'plus or minus',
  mp: 'minus or plus',
  leq: 'less than or equal to',
  le: 'less than or equal to',
  geq: 'greater than or equal to',
  ge: 'greater than or equal to',
  neq: 'not equal to',
  ne: 'not equal to',
  approx: 'approximately',
  sim: 'similar to',
  equiv: 'equivalent to',
  propto: 'proportional to',
  infty: 'infinity',
  partial: 'partial',
  nabla: 'del',
  sum: 'sum',
  prod: 'product',
  int: 'integral',
  to: 'to',
  rightarrow: 'to',
  Rightarrow: 'implies',
  implies: 'implies',
  iff: 'if and only if',
  in: 'in',
  notin: 'not in',
  subset: 'subset of',
  cup: 'union',
  cap: 'intersection',
  forall: 'for all',
  exists: 'there exists',
  ldots: 'and so on',
  dots: 'and so on',
  cdots: 'and so on',
  circ: 'degrees',
  prime: 'prime',
  hbar: 'h bar',
  mid: 'given',
}
/** Only how it looks. */
const looks = new Set(
  (
    'left right big Big bigg Bigg displaystyle quad qquad mathrm mathbf mathit mathcal mathbb text textbf textit ' +
    'operatorname limits boxed begin end tag label hline rm bf'
  ).split(' '),
)
const signs: Readonly<Record<string, string>> = {
  '+': 'plus',
  '-': 'minus',
  '=': 'equals',
  '<': 'less than',
  '>': 'greater than',
  '/': 'over',
  '*': 'times',
  '!': 'factorial',
  "'": 'prime',
  '%': 'percent',
}

function capitalised(name: string): string {
  return (name[0] as string).toUpperCase() + name.slice(1)
}

/** Innermost braces first, so that a fraction of fractions comes apart. */
const nestedMax = 6

function spokenFormula(tex: string): string {
  let rest = tex
    .replace(/\\(?:begin|end)\{[a-z*]{1,16}\}/g, ' ')
    .replace(/\\(?:text|mathrm|operatorname|textbf|textit)\{([^{}]{0,200})\}/g, ' "$1" ')
    .replace(/\\[,;:! ]|\\\\|&/g, ' ')
    .replace(/\\lim_\{([^{}]{1,40})\}/g, ' \\lim "as" $1 "of" ')
    .replace(/([PE])\(([^()|]{1,40})\|/g, '$1($2 "given" ')
    .replace(/(?<![A-Za-z])([fghpPEFGHO])\(/g, '$1 "of" (')
    .replace(/\^\{?\\circ\}?/g, ' "degrees" ')
  for (let depth = 0; depth < nestedMax && /[{}]/.test(rest); depth++) {
    rest = rest
      .replace(/\\[dt]?frac\{(\d{1,3})\}\{(\d{1,3})\}/g, ' $1/$2 ')
      .replace(/\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}/g, ' $1 / $2 ')
      .replace(/\\sqrt\{([^{}]*)\}/g, ' "square root of" $1 ')
      .replace(/\\(sum|prod|int)_\{([^{}]*)\}\^(?:\{([^{}]*)\}|(\\?\w{1,8}))/g, ' \\$1 "from" $2 "to" $3$4 "of" ')
      .replace(/\^\{([^{}]*)\}/g, '^$1 ')
      .replace(/_\{([^{}]*)\}/g, ' "sub" $1 ')
      .replace(/(?<!\\[a-z]{0,12}frac(?:\{[^{}]*\})?|\\sqrt|[\^_])\{([^{}]*)\}/g, ' $1 ')
  }
  rest = rest.replace(/\\(sum|prod|int)_(\w)\^(\\?\w{1,8})/g, ' \\$1 "from" $2 "to" $3 "of" ').replace(/_/g, ' "sub" ')
  const parts = rest.match(/"[^"]*"|\\[A-Za-z]+|\d+\/\d+|[\d.,]*\d|[A-Za-z]+|\^[23](?![\d.])|[^\s]/g) ?? []
  return ` ${parts.map(spokenPart).join(' ').replace(/ +/g, ' ').trim()} `
}

function spokenPart(part: string): string {
  if (part[0] === '"') return part.replaceAll('"', '')
  if (part[0] === '\\') {
    const name = part.slice(1)
    return looks.has(name) ? '' : Object.hasOwn(commands, name) ? (commands[name] as string) : name
  }
  if (part === '^2') return 'squared'
  if (part === '^3') return 'cubed'
  if (part === '^') return 'to the power of'
  if (Object.hasOwn(functions, part)) return functions[part] as string
  // The letter, not the article.
  if (/^[A-Za-z]+$/.test(part)) return Array.from(part.replaceAll('a', 'A')).join(' ')
  if (/^[A-Za-z\d]/.test(part)) return part
  return Object.hasOwn(signs, part) ? (signs[part] as string) : ''
}
