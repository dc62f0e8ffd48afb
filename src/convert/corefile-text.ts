/**
 * Formats server blocks as a Corefile.
 * @module
 */
import { ConversionError } from './conversion.ts'

/** A line of words, which are quoted where necessary, or a line with a block. */
export type TextLine = readonly string[] | TextBlock

/** A line with a block. */
export type TextBlock = { readonly head: readonly string[]; readonly lines: readonly TextLine[] }

/** A server block, with an optional comment above it. */
export type TextServer = TextBlock & { readonly comment?: string }

const INDENT = '    '

/**
 * Formats server blocks, indented by four spaces.
 * @throws {ConversionError} for a word that a Corefile cannot contain
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

/** Quotes a word. Cannot quote a word with a backslash before a quote or at its end. */
function writeWord(word: string): string {
  if (/\{[$%]/.test(word)) {
    throw new ConversionError(`"${word}" would be read as an environment variable`)
  }
  if (/^[^\s"#]+$/.test(word) && !word.endsWith('{') && word !== '}') return word
  if (/\\"|\\$/.test(word)) throw new ConversionError(`"${word}" cannot be quoted in a Corefile`)
  return `"${word.replaceAll('"', '\\"')}"`
}
