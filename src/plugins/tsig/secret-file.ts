/**
 * Secrets of transactions in a file, as BIND's `named.conf` has them and `tsig-keygen` writes them:
 * `key NAME {`, `algorithm …;`, `secret "…";` and `};`, each on a line. What the algorithm is does
 * not matter, as in CoreDNS: a message says with which it is signed.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'

/** A secret as it stands there. */
export type WrittenSecret = Position & {
  readonly name: string
  /** In base64. */
  readonly secret: string
}

/**
 * Reads the secrets of a file.
 * @throws {ConfigError} at the first line that is none of these
 */
export function readSecrets(file: string, text: string): WrittenSecret[] {
  const found: WrittenSecret[] = []
  let open: (Position & { readonly name: string; secret: string }) | undefined
  for (const [i, line] of text.split('\n').entries()) {
    const [first, second] = line.trim().split(/\s+/)
    if (first === undefined || first === '') continue
    const at = { file, line: i + 1, column: line.search(/\S/) + 1 }
    if (open === undefined) {
      if (first !== 'key') throw configError(at, `"${first}" is not "key NAME {"`)
      open = { ...at, name: bare(second, /["{]/g, at), secret: '' }
    } else if (first === 'secret') open.secret = bare(second, /[";]/g, at)
    else if (first === '}' || first === '};') {
      found.push(whole(open))
      open = undefined
    } else if (first !== 'algorithm') {
      throw configError(at, `"${first}" is neither "algorithm", "secret" nor "};"`)
    }
  }
  if (open !== undefined) found.push(whole(open))
  return found
}

function bare(word: string | undefined, marks: RegExp, at: Position): string {
  const text = word?.replace(marks, '') ?? ''
  if (text === '') throw configError(at, 'the line ends too early')
  return text
}

function whole(written: WrittenSecret): WrittenSecret {
  if (written.secret !== '') return written
  throw configError(written, `key "${written.name}" has no "secret"`)
}
