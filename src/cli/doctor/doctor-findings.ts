/**
 * The findings of `kubedoh doctor`, and their text.
 * @module
 */
import { styleText } from 'node:util'
import { escapeControls } from '../../dns/bytes/escape-controls.ts'
import type { Output } from '../../server/node/output.ts'

/** One finding. */
export type Finding = {
  /** What was examined: one word or two. */
  readonly check: string
  /** A note costs time or reveals a choice; only problems make the command fail. */
  readonly state: 'ok' | 'note' | 'problem' | 'skipped'
  readonly text: string
  /** What to do next; for every note, problem and skipped check. */
  readonly next?: string
}

const COLORS = { ok: 'green', note: 'yellow', problem: 'red', skipped: 'gray' } as const

/** Returns a finding that is fine. */
export function ok(check: string, text: string): Finding {
  return { check, state: 'ok', text }
}

/** Returns a problem with its next step. */
export function problem(check: string, text: string, next: string): Finding {
  return { check, state: 'problem', text, next }
}

/** Returns a note with its next step. */
export function note(check: string, text: string, next: string): Finding {
  return { check, state: 'note', text, next }
}

/** Prints findings, in color on a terminal. */
export function printDoctorFindings(findings: readonly Finding[], { stdout }: Output): void {
  for (const { check, state, text, next } of findings) {
    const head = styleText(COLORS[state], state.padEnd(8), { stream: stdout })
    stdout.write(`${head} ${check.padEnd(10)} ${escapeControls(text)}\n`)
    if (next !== undefined) stdout.write(`${' '.repeat(20)}next: ${escapeControls(next)}\n`)
  }
}
