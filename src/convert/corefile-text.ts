/**
 * Server blocks as the text of a Corefile.
 * @module
 */
import { ConversionError } from './conversion.ts'

/** A line: words that are put in quotes where they need it, or such a line with lines within. */
export type TextLine = readonly string[] | TextBlock

/** A line with a block. */
export type TextBlock = { readonly head: readonly string[]; readonly lines: readonly TextLine[] }

/** A server block, with a line above that says what it is. */
export type TextServer = TextBlock & { readonly comment?: string }

const INDENT = '    '

/**
 * Writes server blocks, four blanks to a level.
 * @throws {ConversionError} for a word that a Corefile cannot say
 */
export function writeCorefile(servers: readonly TextServer[]): string {
  return servers
    .flatMap(({ comment, ...block }) => [
      ...(comment === undefined ? [] : [`# ${comment.replaceAll(/\s+/g, ' ')}`]),
      ...writeBlock(block, ''),
    ])
    .map((line) => `${line}\n`)
    .join('')
}

function writeBlock({ head, lines }: TextBlock, indent: string): string[] {
  const inner = lines.flatMap((line) => {
    if ('head' in line) return writeBlock(line, indent + INDENT)
    return [indent + INDENT + writeWords(line)]
  })
  return [`${indent}${writeWords(head)} {`, ...inner, `${indent}}`]
}

function writeWords(words: readonly string[]): string {
  return words.map(writeWord).join(' ')
}

/** Backslashes stay as they are, but before a quote and at the end, where no quote may follow. */
function writeWord(word: string): string {
  if (/\{[$%]/.test(word)) {
    throw new ConversionError(`"${word}" would be read as a variable of the environment`)
  }
  if (/^[^\s"#]+$/.test(word) && !word.endsWith('{') && word !== '}') return word
  if (/\\"|\\$/.test(word)) throw new ConversionError(`"${word}" cannot be put in quotes`)
  return `"${word.replaceAll('"', '\\"')}"`
}
