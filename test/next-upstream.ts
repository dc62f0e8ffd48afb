/**
 * The server behind `forward` in tests of plugins that pass questions on. It answers every question
 * with one address, under the name that was asked: `forward` drops records of other names.
 * @module
 */
import type { Asked } from './fake-host.ts'

const NAME = 'next.example.org.'

/** What a table of cases expects when the next plugin answers, whatever name was asked. */
export const NEXT: readonly string[] = ['NOERROR rd ra', `${NAME} 60 IN A 192.0.2.80`]

/** Answers as {@link NEXT} says, for the name of the question. */
export function nextUpstream({ question }: Asked): readonly string[] {
  const [name = ''] = question.split(' ')
  return NEXT.map((line) => line.replace(NAME, name))
}

/** Returns the expected lines of a reply for `NAME [CLASS] TYPE`, as `ask` gives them. */
export function expectedFor(ask: string, reply: readonly string[]): readonly string[] {
  if (reply !== NEXT) return reply
  const [name = ''] = ask.split(' ')
  return NEXT.map((line) => line.replace(NAME, name.endsWith('.') ? name : `${name}.`))
}
