/**
 * Rules of `rewrite` in tests: a rule from its line, what it makes of a question, and of a reply.
 * @module
 */
import assert from 'node:assert/strict'
import type { Word } from '../../../../src/corefile/server-block.ts'
import { block, parseDirective, problemsOf, type Server, serve } from '../../../ask.ts'

/** An upstream's replies by question, as `FakeHostOptions` has them. */
export type Replies = Readonly<Record<string, readonly string[]>>

/** A question to a block with rules, and what the upstream and the client see. */
export type RewriteCase = {
  readonly name: string
  /** What stands behind `rewrite`, a rule each. */
  readonly rules: readonly string[]
  readonly ask: string
  /** What the upstream is asked. */
  readonly asks: string
  /** What it replies. */
  readonly upstream?: readonly string[]
  readonly reply: readonly string[]
}

/** Asks as a case says and compares. */
export async function checkRewrite(one: RewriteCase): Promise<void> {
  const server = serveRules(one.rules, { [one.asks]: one.upstream ?? ['NOERROR ra'] })
  assert.deepEqual(await server.ask(one.ask), one.reply)
  assert.deepEqual(
    server.host.asked.map(({ question }) => question),
    [one.asks],
  )
}

/** A block with rules and an upstream. */
export function serveRules(rules: readonly string[], upstream: Replies): Server {
  const lines = rules.map((rule) => `rewrite ${rule}`)
  return serve(block(...lines, 'forward . 192.0.2.53'), { upstream })
}

/** What is wrong with a rule; its first word stands at 2:11. */
export function problemsOfRule(rule: string): string[] {
  return problemsOf(block(`rewrite ${rule}`))
}

/** Words at 2:8 and on. */
export function wordsOf(text: string): readonly Word[] {
  return parseDirective(`word ${text}`).args
}
