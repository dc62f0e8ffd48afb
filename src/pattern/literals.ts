/**
 * Literal text that every match has, by which most texts that do not match are told at once.
 * @module
 */
import { type Node, onlyCharacter } from './syntax.ts'

/** What every text with a match begins and ends with and has within; '' where that is not plain. */
export type Literals = {
  readonly prefix: string
  readonly suffix: string
  readonly inside: string
}

/** Finds the literals of an expression. */
export function findLiterals(root: Node): Literals {
  const parts = flatten(root)
  const runs: string[] = ['']
  for (const part of parts) {
    const character = characterOf(part)
    if (character === undefined) runs.push('')
    else runs.push(`${runs.pop() ?? ''}${character}`)
  }
  const isLongest = (run: string): boolean => runs.every((other) => other.length <= run.length)
  return {
    prefix: isAssertion(parts[0], 'text-start') ? (runs[1] ?? '') : '',
    suffix: isAssertion(parts.at(-1), 'text-end') ? (runs.at(-2) ?? '') : '',
    inside: runs.find(isLongest) ?? '',
  }
}

/** The parts that a match goes through one after the other, groups taken apart. */
function flatten(node: Node): Node[] {
  if (node.kind === 'sequence') return node.parts.flatMap(flatten)
  return node.kind === 'group' ? flatten(node.body) : [node]
}

function characterOf(node: Node): string | undefined {
  return node.kind === 'set' ? onlyCharacter(node.set) : undefined
}

function isAssertion(node: Node | undefined, wanted: 'text-start' | 'text-end'): boolean {
  return node?.kind === 'assertion' && node.assertion === wanted
}
