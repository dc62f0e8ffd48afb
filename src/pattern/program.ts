/**
 * From an expression's parts to a program: instructions that read a character or go on elsewhere.
 * @module
 */
import { propertyExpression } from './parse-escape.ts'
import { type Assertion, type CharacterSet, type Node, PatternError } from './syntax.ts'

/** Instructions of one program. */
const INSTRUCTIONS_MAX = 10_000
/** Parts compiled, repeats included: those that are empty become no instruction. */
const PARTS_MAX = 100_000

/** Tells whether a set has a character. */
export type SetTest = (code: number) => boolean

/** An instruction; `next` and the like are numbers of instructions. */
export type Instruction =
  | {
      readonly kind: 'read'
      /** For characters under U+0080: 1 when they are in the set. */
      readonly ascii: Uint8Array
      readonly has: SetTest
      next: number
    }
  | { readonly kind: 'assert'; readonly assertion: Assertion; next: number }
  /** Tries `next` first, and then `other`. */
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'save'; readonly slot: number; next: number }
  | { readonly kind: 'match' }

/** A program and where it begins. */
export type Program = { readonly instructions: readonly Instruction[]; readonly start: number }

/** Compiles an expression. @throws {PatternError} when it is too large */
export function compileProgram(root: Node): Program {
  const compiler = new Compiler()
  const match = compiler.add({ kind: 'match' })
  const end = compiler.add({ kind: 'save', slot: 1, next: match })
  const body = compiler.compile(root, end)
  const start = compiler.add({ kind: 'save', slot: 0, next: body })
  return { instructions: compiler.instructions, start }
}

/** Compiles backwards: what comes after a part is there before it. */
class Compiler {
  readonly instructions: Instruction[] = []
  private parts = 0

  add(instruction: Instruction): number {
    if (this.instructions.length >= INSTRUCTIONS_MAX) throw new PatternError('it is too large')
    return this.instructions.push(instruction) - 1
  }

  /** Returns the instruction with which a part begins that goes on at `next`. */
  compile(node: Node, next: number): number {
    if (++this.parts > PARTS_MAX) throw new PatternError('it is too large')
    switch (node.kind) {
      case 'empty':
        return next
      case 'set':
        return this.add({ kind: 'read', ...compileSet(node.set), next })
      case 'assertion':
        return this.add({ kind: 'assert', assertion: node.assertion, next })
      case 'group': {
        const end = this.add({ kind: 'save', slot: 2 * node.index + 1, next })
        return this.add({ kind: 'save', slot: 2 * node.index, next: this.compile(node.body, end) })
      }
      case 'sequence':
        return node.parts.reduceRight((after, part) => this.compile(part, after), next)
      case 'choice':
        return node.parts
          .map((part) => this.compile(part, next))
          .reduceRight((other, first) => this.add({ kind: 'split', next: first, other }))
      case 'repeat':
        return this.compileRepeat(node, next)
    }
  }

  private compileRepeat(node: Extract<Node, { kind: 'repeat' }>, next: number): number {
    const { body, min, max, isLazy } = node
    let start = next
    let required = min
    if (max === Infinity) {
      required = Math.max(min - 1, 0)
      start = this.compileLoop(body, isLazy, next)
      if (min === 0) start = this.choice(start, next, isLazy)
    } else {
      for (let i = min; i < max; i++) start = this.choice(this.compile(body, start), next, isLazy)
    }
    for (let i = 0; i < required; i++) start = this.compile(body, start)
    return start
  }

  /** A body, at least once: behind it, the choice of another round. */
  private compileLoop(body: Node, isLazy: boolean, next: number): number {
    const again: Instruction = { kind: 'split', next, other: next }
    const split = this.add(again)
    const start = this.compile(body, split)
    if (isLazy) again.other = start
    else again.next = start
    return start
  }

  private choice(wanted: number, otherwise: number, isLazy: boolean): number {
    const [next, other] = isLazy ? [otherwise, wanted] : [wanted, otherwise]
    return this.add({ kind: 'split', next, other })
  }
}

function compileSet(set: CharacterSet): { readonly ascii: Uint8Array; readonly has: SetTest } {
  const has = setTest(set)
  return { has, ascii: Uint8Array.from({ length: 128 }, (_, code) => (has(code) ? 1 : 0)) }
}

function setTest(set: CharacterSet): SetTest {
  const { ranges, isNegated, folds } = set
  const inner = set.sets.map(setTest)
  const property = set.property === undefined ? undefined : propertyExpression(set.property)
  const hasExactly: SetTest = (code) =>
    ranges.some(([first, last]) => first <= code && code <= last) ||
    inner.some((test) => test(code)) ||
    property?.test(String.fromCodePoint(code)) === true
  const has: SetTest = folds ? (code) => caseForms(code).some(hasExactly) : hasExactly
  return isNegated ? (code) => !has(code) : has
}

/** A character and its other letter case, as long as that is one character. */
function caseForms(code: number): number[] {
  const text = String.fromCodePoint(code)
  const forms = [text, text.toLowerCase(), text.toUpperCase()]
  return forms.flatMap((form) => ([...form].length === 1 ? [form.codePointAt(0) ?? code] : []))
}
