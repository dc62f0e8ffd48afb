/**
 * The `dnstap` directive's options (CoreDNS, plugin/dnstap/setup.go).
 * @module
 */

import type { Host } from '../../chain/host.ts'
import {
  argTexts,
  checkArgs,
  flag,
  type Option,
  type OptionReaders,
  parseCount,
  readOptions,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'

/** A `dnstap` directive. */
type DnstapOptions = {
  readonly target: TapTarget
  /** Messages that may wait. */
  readonly queueMax: number
  /** Whether messages include the bytes of queries and responses. */
  readonly isFull: boolean
  /** `undefined` for this machine's hostname, or this program and its version. */
  readonly identity: string | undefined
  readonly version: string | undefined
  /** A format string of `log`; '' for none. */
  readonly extra: string
}

/** Messages in a queue, times the directive's QUEUE. */
const QUEUE_MESSAGES = 10_000
const QUEUES_MAX = 4096
const BUFFERS_MAX = 1024
const LABEL_CHARACTERS_MAX = 255

type Draft = Pick<DnstapOptions, 'identity' | 'version' | 'extra'> & { isVerified: boolean }

const READERS: OptionReaders<Draft> = {
  identity: (option) => ({ identity: parseLabel(option) }),
  version: (option) => ({ version: parseLabel(option) }),
  extra: (option) => ({ extra: argTexts(option, 1)[0] ?? '' }),
  skipverify: (option) => ({ isVerified: !flag(option) }),
}

/** Reads a directive. @throws {ConfigError} */
export function parseDnstap(directive: Directive): DnstapOptions {
  const [socket, full, buffers, queues] = checkArgs(directive, 4)
  if (socket === undefined) {
    throw configError(
      directive,
      '"dnstap" needs a socket, such as /tmp/dnstap.sock or tcp://HOST:PORT',
    )
  }
  if (socket.text === 'listen') {
    throw configError(socket, '"dnstap listen" is not supported: have the collector listen')
  }
  if (full !== undefined && full.text !== 'full') {
    throw configError(full, `"dnstap" does not take "${full.text}": write "full" or leave it out`)
  }
  // Ignored: the system sizes socket buffers.
  if (buffers !== undefined) parseCount(buffers, 1, BUFFERS_MAX)
  const count = queues === undefined ? 1 : parseCount(queues, 1, QUEUES_MAX)
  const draft: Draft = { identity: undefined, version: undefined, extra: '', isVerified: true }
  readOptions(directive, READERS, draft)
  const { isVerified, ...rest } = draft
  const target = parseTarget(socket, isVerified)
  return { target, queueMax: count * QUEUE_MESSAGES, isFull: full !== undefined, ...rest }
}

function parseLabel(option: Option): string {
  const [text = ''] = argTexts(option, 1)
  if (text.length <= LABEL_CHARACTERS_MAX) return text
  throw configError(option, `"${option.name}" is over ${LABEL_CHARACTERS_MAX} characters`)
}

function parseTarget(word: Word, isVerified: boolean): TapTarget {
  const [, scheme] = /^(tcp|tls):\/\//.exec(word.text) ?? []
  if (scheme === undefined) return { kind: 'unix', path: word.text.replace(/^unix:\/\//, '') }
  const url = URL.parse(word.text)
  const port = Number(url?.port)
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  if (host === '' || port === 0)
    throw configError(word, `"${word.text}" is not ${scheme}://HOST:PORT`)
  return scheme === 'tcp' ? { kind: 'tcp', host, port } : { kind: 'tls', host, port, isVerified }
}

/** The address of a collector of dnstap messages. */
export type TapTarget =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | {
      readonly kind: 'tls'
      readonly host: string
      readonly port: number
      /** Whether its certificate must be for the host. */
      readonly isVerified: boolean
    }

/** A connection to a collector. */
export type Tap = {
  /** Queues a message; never throws, never waits. */
  readonly send: (message: Uint8Array) => void
  /** Sends the queued messages and closes. */
  readonly close: () => void
}

/** A host that sends to collectors. */
export type DnstapHost = Host & {
  /** Connects to a collector; at most `queueMax` messages wait. */
  readonly openTap: (target: TapTarget, queueMax: number) => Tap
}
