/** Formulas between dollars, and signs of code: a table like that of `normalisation.test.ts`. */
import { expect, test } from 'bun:test'
import { saidInOneLine } from './said.fixture.ts'

const cases: readonly (readonly [string, string])[] = [
  ['The formula $E = mc^2$ is famous.', 'The formula E equals m c squared is famous.'],
  ['$x_1 + x_2$', 'x sub one plus x sub two.'],
  ['$$\\int_0^1 x^2 dx$$', 'integral from zero to one of x squared d x.'],
  [
    '\\[ x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a} \\]',
    'x equals minus b plus or minus square root of b squared minus four A c over two A.',
  ],
  ['$\\sum_{i=1}^{n} i = \\frac{n(n+1)}{2}$', 'sum from i equals one to n of i equals n n plus one over two.'],
  ['$\\frac{1}{2}$ and \\frac{3}{4} and 5 \\times 3', 'one half and three quarters and five times three.'],
  ['\\(90^\\circ\\) and $\\alpha \\leq \\beta$', 'ninety degrees and alpha less than or equal to beta.'],
  ['$\\text{speed} = \\frac{\\text{way}}{\\text{time}}$', 'speed equals way over time.'],
  ['$f(x) = \\sin(x)$', 'f of x equals sine x.'],
  ['$\\lim_{x \\to 0} P(A|B)$', 'limit as x to zero of P of A given B.'],
  ['$n$ items, $2x$, $x + y$', 'n items, two x, x plus y.'],
  ['$e^{-x}$ and $a_{ij}$', 'e to the power of minus x and A sub i j.'],
  ['\\begin{align} x = 1 \\end{align}', 'x equals one.'],
  ['It costs $5 and $10.', 'It costs five dollars and ten dollars.'],
  ['5$ or 10$ or $5-$10', 'five dollars or ten dollars or five to ten dollars.'],
  ['$AAPL and $TSLA', 'A A P L and T S L A.'],
  ['C:\\Users\\text\\sum', 'C: Users text sum.'],
  ['a \\* b', 'a times b.'],
  ['a != b', 'a not equal to b.'],
  ['10 / 2 = 5', 'ten divided by two equals five.'],
  ['grade B-, a C- too', 'grade B minus, a C minus too.'],
  ['blood type O-, A+ blood', 'blood type O negative, A positive blood.'],
  ['plan B-', 'plan B minus.'],
  ['Hi :D and :P bye xD', 'Hi and bye.'],
  ['Note:Do it', 'Note, Do it.'],
  ['Go to Settings > Privacy', 'Go to Settings, Privacy.'],
  ['A > B', 'A greater than B.'],
  ['Copyright © 2024', 'Copyright twenty twenty four.'],
  ['μ = 0.5, 5 μm', 'mu equals zero point five, five micrometers.'],
  ['χ²(2), 10⁻³', 'chi squared two, ten to the power of minus three.'],
  ['∑ x, ∫ y, x ∈ R', 'sum of x, integral of y, x in R.'],
  ['∛27, ∀x', 'cube root of twenty seven, for all x.'],
  ['§§ 12–14, § 5', 'sections twelve to fourteen, section five.'],
  ['5! = 120, n! / 2', 'five factorial equals one hundred twenty, n factorial slash two.'],
  ['I am 5! He is 3!', 'I am five! | He is three!'],
  ['a && b || c, the ||secret|| word', 'a and b or c, the, secret, word.'],
  ['2 ** 3, ** bold **', 'two to the power of three, bold.'],
  ['sin²θ, a word² more', 'sin squared theta, a word more.'],
  ['Ca²⁺ ions, x²+2x', 'Ca two plus ions, x squared plus two x.'],
  ['¹⁴C dating', 'fourteen C dating.'],
  ['>=1.2.0 if x !== y', 'greater than or equal to one point two point zero if x not equal to y.'],
  ["f'(x), f''(x), don't (ever)", "f prime x, f double prime x, don't, ever."],
  ['y = x ** 2', 'y equals x to the power of two.'],
  ['C♯ and B♭', 'C sharp and B flat.'],
  ['~/.bashrc', 'tilde slash dot bashrc.'],
]

test.each(cases)('%s', (written, spoken) => {
  expect(saidInOneLine(written)).toBe(spoken)
})
