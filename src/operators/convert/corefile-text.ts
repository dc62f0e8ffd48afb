/**
 * Formats server blocks as a Corefile.
 * @module
 */
import { type Conversion, ConversionError } from './conversion.ts'

/** A line of words, which are quoted where necessary, or a line with a block. */
export type TextLine = readonly string[] | TextBlock

/** A line with a block. */
export type TextBlock = { readonly head: readonly string[]; readonly lines: readonly TextLine[] }

/** A server block, with an optional comment above it, and the field that it comes from. */
export type TextServer = TextBlock & { readonly comment?: string; readonly field?: string }

const INDENT = '    '

/**
 * Formats server blocks, indented by four spaces.
 * @param above text that comes first
 * @throws {ConversionError} for a word that a Corefile cannot contain
 */
export function writeCorefile(
  servers: readonly TextServer[],
  above = '',
): Pick<Conversion, 'corefile' | 'fieldAt'> {
  const texts = [above]
  let line = countLines(above) + 1
  /** The line after the block of each field. */
  const ends: { readonly line: number; readonly field?: string | undefined }[] = [{ line }]
  for (const { comment, field, ...block } of servers) {
    const head = comment === undefined ? [] : [`# ${comment.replaceAll(/\s+/g, ' ')}`]
    const text = [...head, ...writeBlock(block, '')].map((one) => `${one}\n`).join('')
    texts.push(text)
    line += countLines(text)
    ends.push({ line, field })
  }
  const fieldAt = (at: number): string | undefined => ends.find((end) => at < end.line)?.field
  return { corefile: texts.join(''), fieldAt }
}

function countLines(text: string): number {
  return text.split('\n').length - 1
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
