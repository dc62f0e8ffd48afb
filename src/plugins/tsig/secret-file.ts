/**
 * TSIG secrets in files as BIND's `named.conf` and `tsig-keygen` write them: `key NAME {`,
 * `algorithm …;`, `secret "…";` and `};`, each on its own line. As in CoreDNS the algorithm is
 * ignored: each message names its own.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'

/** A secret with its position in the file. */
export type WrittenSecret = Position & {
  readonly name: string
  /** In base64. */
  readonly secret: string
}

/**
 * Parses the secrets of a file.
 * @throws {ConfigError} at the first invalid line
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
  if (text === '') throw configError(at, 'the line is incomplete')
  return text
}

function whole(written: WrittenSecret): WrittenSecret {
  if (written.secret !== '') return written
  throw configError(written, `key "${written.name}" has no "secret"`)
}
