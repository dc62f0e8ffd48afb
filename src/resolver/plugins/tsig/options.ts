/**
 * Options of the `tsig` plugin.
 * @module
 */

import {
  argTexts,
  type Option,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { configError, type Position, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { decodeBase64 } from '../../../dns/bytes/base64url.ts'
import { formatName, nameKey, parseName } from '../../../dns/names/name.ts'
import { OPCODE } from '../../../dns/names/rcode.ts'
import { parseType } from '../../../dns/names/rr-type.ts'
import type { Host } from '../../contract/host.ts'
import { readNamedFile } from '../../plugin-kit/tls-files.ts'

/** Numbers, or `all`. */
export type Required = ReadonlySet<number> | 'all'

/** The options of a `tsig` directive. */
export type TsigOptions = {
  readonly zones: readonly Uint8Array[]
  /** By the `nameKey` of their names. */
  readonly secrets: ReadonlyMap<string, Uint8Array>
  readonly types: Required
  readonly operations: Required
  readonly notices: readonly Problem[]
}

type Draft = Omit<TsigOptions, 'zones'> & {
  readonly secrets: Map<string, Uint8Array>
  readonly notices: Problem[]
  readonly readText: Host['readText']
}

const SECRETS_MAX = 100_000
const NONE: ReadonlySet<number> = new Set()
const OPERATIONS: ReadonlyMap<string, number> = new Map(
  Object.entries(OPCODE).filter(([name]) => name !== 'DSO'),
)

/**
 * Parses `tsig [ZONE…] { secret NAME KEY  secrets FILE  require all|none|TYPE…  require_opcode
 * all|none|OPCODE… }`.
 * @throws {ConfigError} at the invalid word, in the Corefile or a file of secrets
 */
export function parseTsig(
  directives: readonly [Directive, ...Directive[]],
  blockZones: readonly Uint8Array[],
  readText: Host['readText'],
): TsigOptions {
  const directive = onlyDirective(directives)
  const defaults = { secrets: new Map(), notices: [], types: NONE, operations: NONE }
  const draft = readOptions<Draft>(directive, READERS, { ...defaults, readText })
  return { zones: zonesOf(directive.args, blockZones), ...draft }
}

const READERS: OptionReaders<Draft> = {
  secret: (option, draft) => {
    const [name = '', secret = ''] = argTexts(option, 2)
    const [nameWord = option, secretWord = option] = option.args
    addSecret(draft, { name, secret }, { name: nameWord, secret: secretWord })
  },
  secrets: (option, draft) => {
    const word = onlyWord(option)
    for (const one of readSecrets(word.text, readNamedFile(word, draft.readText))) {
      addSecret(draft, one, { name: one, secret: one })
    }
  },
  require: (option, { types, notices }) => ({ types: required(option, types, notices, typeOf) }),
  require_opcode: (option, { operations, notices }) => ({
    operations: required(option, operations, notices, operationOf),
  }),
}

function addSecret(
  { secrets }: Draft,
  written: { readonly name: string; readonly secret: string },
  at: { readonly name: Position; readonly secret: Position },
): void {
  const name = parseName(written.name)
  if (name === undefined) throw configError(at.name, `"${written.name}" is not a key name`)
  const secret = decodeBase64(written.secret)
  if (secret === undefined || secret.length === 0) {
    const hint = 'make one with "tsig-keygen" or "openssl rand -base64 32"'
    throw configError(at.secret, `the secret of key "${written.name}" is not base64; ${hint}`)
  }
  const key = nameKey(name)
  if (secrets.has(key)) {
    throw configError(at.name, `key "${formatName(name)}" appears twice; remove one`)
  }
  if (secrets.size >= SECRETS_MAX) throw configError(at.name, `over ${SECRETS_MAX} secrets`)
  secrets.set(key, secret)
}

/** Returns a line's values, which replace earlier ones, except `all`, as in CoreDNS. */
function required(
  option: Option,
  before: Required,
  notices: Problem[],
  read: (word: Word) => number,
): Required {
  argTexts(option, 1, Infinity)
  const [first, second] = option.args
  if (first?.text === 'all' || first?.text === 'none') {
    if (second !== undefined) {
      notices.push(problemAt(second, `"${second.text}" after "${first.text}" is ignored`))
    }
    return first.text === 'all' || before === 'all' ? 'all' : NONE
  }
  const values = new Set(option.args.map(read))
  return before === 'all' ? before : values
}

function typeOf(word: Word): number {
  const type = parseType(word.text)
  if (type === undefined) {
    throw configError(word, `"${word.text}" is not a query type such as AXFR, nor "all" or "none"`)
  }
  return type
}

function operationOf(word: Word): number {
  const operation = OPERATIONS.get(word.text.toUpperCase())
  if (operation === undefined) {
    const known = [...OPERATIONS.keys(), 'all', 'none'].join(', ')
    throw configError(word, `"${word.text}" is not one of ${known}`)
  }
  return operation
}

/** A secret with its position in the file. */
type WrittenSecret = Position & {
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
