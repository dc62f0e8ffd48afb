/**
 * Texts that are quoted strings as a whole, as zone files have the data of TXT records.
 * @module
 */
import { toLatin1 } from '../bytes/bytes.ts'
import { parseString } from './character-string.ts'

const QUOTED = /"((?:[^"\\]|\\[\s\S])*)"/g
const ONLY_QUOTED = /^\s*(?:"(?:[^"\\]|\\[\s\S])*"\s*)+$/

/**
 * Returns the contents of a text that is one or more strings in double quotes and nothing else,
 * unescaped, in UTF-8; `undefined` for any other text, and for one with an invalid escape.
 */
export function parseQuotedStrings(text: string): Uint8Array[] | undefined {
  if (!ONLY_QUOTED.test(text)) return undefined
  const strings = Array.from(text.matchAll(QUOTED), ([, content = '']) => {
    // Escapes are of bytes, so the others become bytes first.
    return parseString(toLatin1(new TextEncoder().encode(content)))
  })
  return strings.some((one) => one === undefined) ? undefined : strings.flatMap((one) => one ?? [])
}
