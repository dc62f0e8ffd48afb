/**
 * Runs a program over a text: tries one way after the other, and no instruction twice at the same
 * place, which bounds the work by the product of both lengths (golang.org, regexp/backtrack.go).
 * @module
 */
import { isWordCharacter } from './classes.ts'
import type { Instruction, Program } from './program.ts'
import type { Assertion } from './syntax.ts'

/** Characters of a text that are looked at. */
const TEXT_MAX = 8192

/** A way that is left to try: go on at an instruction, or put back what a slot had. */
type Job = { readonly at: number; readonly position: number; readonly slot: number }

/** Finds matches. Used for one text after the other. */
export class Matcher {
  private readonly instructions: readonly Instruction[]
  private readonly start: number
  private readonly slotCount: number
  /** Whether a match can only begin where the text does. */
  private readonly isAnchored: boolean
  /** One bit for each instruction and place. */
  private visited = new Uint32Array(64)

  /** @param groupCount with the whole match */
  constructor({ instructions, start }: Program, groupCount: number) {
    this.instructions = instructions
    this.start = start
    this.slotCount = 2 * groupCount
    this.isAnchored = isAnchored(instructions, start)
  }

  /** Returns where each group begins and ends, -1 for those without a part; else `undefined`. */
  run(text: string): readonly number[] | undefined {
    const subject = text.length > TEXT_MAX ? text.slice(0, TEXT_MAX) : text
    const wordCount = Math.ceil((this.instructions.length * (subject.length + 1)) / 32)
    if (this.visited.length < wordCount) this.visited = new Uint32Array(2 * wordCount)
    else this.visited.fill(0, 0, wordCount)
    const lastStart = this.isAnchored ? 0 : subject.length
    for (let position = 0; position <= lastStart; position++) {
      const slots = this.tryAt(subject, position)
      if (slots !== undefined) return slots
    }
    return undefined
  }

  private tryAt(text: string, position: number): number[] | undefined {
    const slots = new Array<number>(this.slotCount).fill(-1)
    const jobs: Job[] = [{ at: this.start, position, slot: -1 }]
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
      if (job.slot >= 0) slots[job.slot] = job.position
      else if (this.follow(text, job, { slots, jobs })) return slots
    }
    return undefined
  }

  /** Goes on from one place until a character is not the right one, or all is matched. */
  private follow(
    text: string,
    job: Job,
    { slots, jobs }: { readonly slots: number[]; readonly jobs: Job[] },
  ): boolean {
    let { at, position } = job
    while (this.visit(at, position, text.length)) {
      const instruction = this.instructions[at]
      if (instruction === undefined || instruction.kind === 'match') return true
      switch (instruction.kind) {
        case 'read': {
          const code = text.codePointAt(position) ?? -1
          if (code < 0) return false
          if (code < 128 ? instruction.ascii[code] === 0 : !instruction.has(code)) return false
          position += code > 0xffff ? 2 : 1
          break
        }
        case 'assert':
          if (!holds(instruction.assertion, text, position)) return false
          break
        case 'split':
          jobs.push({ at: instruction.other, position, slot: -1 })
          break
        case 'save':
          jobs.push({ at: -1, position: slots[instruction.slot] ?? -1, slot: instruction.slot })
          slots[instruction.slot] = position
          break
      }
      at = instruction.next
    }
    return false
  }

  /** Notes that an instruction was come to at a place; false when it was before. */
  private visit(at: number, position: number, textLength: number): boolean {
    const bit = at * (textLength + 1) + position
    const word = bit >>> 5
    const mask = 1 << (bit & 31)
    const before = this.visited[word] ?? 0
    this.visited[word] = before | mask
    return (before & mask) === 0
  }
}

function isAnchored(instructions: readonly Instruction[], start: number): boolean {
  let instruction = instructions[start]
  while (instruction?.kind === 'save') instruction = instructions[instruction.next]
  return instruction?.kind === 'assert' && instruction.assertion === 'text-start'
}

function holds(assertion: Assertion, text: string, position: number): boolean {
  switch (assertion) {
    case 'text-start':
      return position === 0
    case 'text-end':
      return position === text.length
    case 'line-start':
      return position === 0 || text[position - 1] === '\n'
    case 'line-end':
      return position === text.length || text[position] === '\n'
    case 'word':
      return isWordAt(text, position - 1) !== isWordAt(text, position)
    case 'not-word':
      return isWordAt(text, position - 1) === isWordAt(text, position)
  }
}

function isWordAt(text: string, position: number): boolean {
  return isWordCharacter(text.charCodeAt(position))
}
