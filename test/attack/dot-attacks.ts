/**
 * Guesses of tokens in the server names of TLS handshakes, run by `attacker.ts`.
 * @module
 */
import { hostTokenOf } from '../../src/gateway/access/token.ts'
import { type Connections, open } from './stream-attacks.ts'
import { pipeline, query } from './wire.ts'

/** Where to guess, and how often: `count` handshakes, `atOnce` of them at a time. */
export type Guesses = Connections & {
  readonly atOnce: number
  /** Queries on each connection. */
  readonly queriesEach: number
  readonly name: string
  /** TOKEN_DOMAIN. */
  readonly domain: string
}

/** Numbers of responses, each by its response code and reason; and of connections without one. */
export type Tally = Readonly<Record<string, number>>

/** The result, and the names that were guessed. */
export type Guessed = {
  readonly labels: readonly string[]
  /** Guesses in the form of tokens. */
  readonly unknown: Tally
  /** Guesses with a wrong letter. */
  readonly misspelt: Tally
}

const REASON = /no valid token|too many requests/

/** Guesses tokens, every second one with a wrong letter, and tallies the responses. */
export async function guess(options: Guesses): Promise<Guessed> {
  const { count, atOnce } = options
  const labels: string[] = []
  let begun = 0
  const [unknown, misspelt]: [Record<string, number>, Record<string, number>] = [{}, {}]
  const run = async (): Promise<void> => {
    while (begun < count) {
      const index = begun++
      const right = await hostTokenOf(`guess ${index}`)
      const isMisspelt = index % 2 === 1
      const label = isMisspelt ? right.slice(0, -1) + (right.endsWith('0') ? '1' : '0') : right
      labels.push(label)
      const tally = isMisspelt ? misspelt : unknown
      for (const one of await askAs(`${label}.${options.domain}`, options, index)) {
        tally[one] = (tally[one] ?? 0) + 1
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, run))
  return { labels, unknown, misspelt }
}

/** Sends the queries of one connection; returns what came of each. */
function askAs(serverName: string, options: Guesses, index: number): Promise<readonly string[]> {
  const { name, queriesEach } = options
  const socket = open({ ...options, isTls: true, serverNames: [serverName] }, index)
  const results: string[] = []
  let rest = Buffer.alloc(0)
  socket.write(pipeline(query({ name, udpBytes: 1232 }), queriesEach))
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE()) {
      const end = 2 + rest.readUInt16BE()
      const [reason = 'no reason'] = REASON.exec(rest.toString('latin1', 2, end)) ?? []
      results.push(`rcode ${rest.readUInt8(5) & 15}, ${reason}`)
      rest = rest.subarray(end)
    }
    if (results.length === queriesEach) socket.destroy()
  })
  return new Promise((resolve) => {
    socket.once('close', () =>
      resolve(results.length < queriesEach ? [...results, 'closed'] : results),
    )
  })
}
