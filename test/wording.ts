/**
 * The words that our text never uses, with the term of the field for each: engineers search for the
 * words of the RFCs and of Kubernetes. Covers code, comments, documents and the titles of tests.
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A pattern, and the term to write. A line that cites an RFC can quote the RFC's own word. */
const WORDS: readonly (readonly [never: RegExp, write: string])[] = [
  [/octet/i, 'byte'],
  [/record set/i, 'RRset'],
  [/\bquick way\b/i, 'fast path'],
  [/\blong way\b|\bat length\b/i, 'slow path'],
  [/\b(?:to|can) be had\b/i, 'available'],
  [/open[- ]?to[- ]?pages/i, 'CORS'],
  [/\bnames? of hosts\b|\bhost names?\b/i, 'hostname'],
  [/\boutside names?\b/i, 'external names'],
  [/\banew\b|\bthe begin\b/i, 'again, the start'],
  [/\bmakes (?:who|what)\b/i, 'returns a function that'],
  [/\bno affair\b|\bof no interest\b/i, 'ignored'],
  [/\ba wish for\b/i, 'request'],
  [/\bkeeps quiet\b|\bstays away\b/i, 'is silent, is unavailable'],
  [/\bby how much\b/i, 'how much'],
  [/\b(?:tells|told|telling)\b/i, 'report, log, warn, return, publish'],
  [/\bleads? (?:to|into|below)\b/i, 'points to'],
  [/\b(?:who|what) asks?\b|\bwas asked\b/i, 'the client, the query, the query name'],
  [/\bnobody gains\b/i, 'prevents'],
]
/**
 * More words that titles of tests and names of rows do not use: they name the actor, in the terms
 * of the RFCs. */
const TITLE_WORDS: typeof WORDS = [
  ...WORDS,
  [/\bquick(?:ly)?\b/i, 'fast path'],
  [/\btell\b/i, 'report, log, warn'],
  [/\b(?:is|are|was|were) (?:not )?there\b/i, 'exists, is missing'],
  [/\bcannot be had\b/i, 'cannot be loaded'],
  [/\bdenials?\b/i, 'negative response'],
  [/\bwho (?:has|wants|is|sees|takes)\b/, 'a client that'],
]
const TITLE = /^\s*(?:test|it|describe)(?:Unless)?\((?:\w+, )?(['"`])(.*)\1, /
/** The name of a row in a table of tests: several words. */
const ROW = /\bname: (['"`])((?:(?!\1).)* (?:(?!\1).)*)\1/
const QUOTES_A_STANDARD = /\bRFC ?\d{4}|octet-stream/
const ENDINGS = ['.ts', '.md', '.toml']
/**
 * What is checked. CHANGELOG.md is history, and CONTRIBUTING.md shows old words beside new
 * ones.
 */
const TREES = ['src', 'worker', 'docs']
const PAGES = ['README.md', 'ARCHITECTURE.md', 'SECURITY.md']

/** Returns one line per match, `file:line: write TERM, not WORD`, in file order. */
export function wordings(root: string): string[] {
  const files = TREES.filter((tree) => existsSync(join(root, tree))).flatMap((tree) => {
    const names = readdirSync(join(root, tree), { encoding: 'utf8', recursive: true })
    return names.map((name) => `${tree}/${name}`)
  })
  return files
    .filter((file) => ENDINGS.some((ending) => file.endsWith(ending)))
    .concat(PAGES.filter((page) => existsSync(join(root, page))))
    .sort()
    .flatMap((file) => wordingsIn(file, readFileSync(join(root, file), 'utf8')))
    .concat(titleWordings(root))
}

/** Returns one line per match in the titles of tests, in file order. */
function titleWordings(root: string): string[] {
  const folder = join(root, 'test')
  const names = existsSync(folder) ? readdirSync(folder, { encoding: 'utf8', recursive: true }) : []
  return names
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .flatMap((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      const titles = text.split('\n').map((line) => (TITLE.exec(line) ?? ROW.exec(line))?.[2] ?? '')
      return wordingsIn(`test/${name}`, titles.join('\n'), TITLE_WORDS)
    })
}

/** Returns the matches in one text. */
export function wordingsIn(file: string, text: string, words: typeof WORDS = WORDS): string[] {
  return text.split('\n').flatMap((line, i) => {
    if (QUOTES_A_STANDARD.test(line)) return []
    return words.flatMap(([never, write]) => {
      const [found] = never.exec(line) ?? []
      return found === undefined ? [] : [`${file}:${i + 1}: write ${write}, not "${found}"`]
    })
  })
}
