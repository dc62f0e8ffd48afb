/**
 * Executes a template (Go, text/template/exec.go).
 * @module
 */
import {
  type ArgumentKind,
  type Datum,
  entriesOf,
  goType,
  isMapDatum,
  isTruthy,
  printDatum,
  Struct,
  TemplateError,
  TextMap,
} from './datum.ts'
import { TEMPLATE_FUNCTIONS } from './functions.ts'
import type { Branch, Command, Operand, Part, Pipe } from './syntax.ts'

/** Parts that one execution may run. */
const STEPS_MAX = 20_000
/** Characters that one execution may write. */
const OUTPUT_MAX = 65_536

/** How a pass through a loop ended early. */
type Jump = 'break' | 'continue' | undefined
type Variable = { readonly name: string; value: Datum }
const NOTHING_GIVEN: Given = { operands: [], before: undefined }
/** The result of the previous command in a pipe. */
type Before = { readonly value: Datum } | undefined

/** Executes a template for a value and returns its output. @throws {TemplateError} */
export function executeTemplate(parts: readonly Part[], data: Datum): string {
  const execution = new Execution(data)
  execution.walk(parts, data)
  return execution.output
}

class Execution {
  output = ''
  private readonly variables: Variable[]
  private steps = 0

  constructor(data: Datum) {
    this.variables = [{ name: '$', value: data }]
  }

  walk(parts: readonly Part[], dot: Datum): Jump {
    for (const part of parts) {
      if (++this.steps > STEPS_MAX) throw new TemplateError('the template takes too many steps')
      const jump = this.part(part, dot)
      if (jump !== undefined) return jump
    }
    return undefined
  }

  private part(part: Part, dot: Datum): Jump {
    switch (part.kind) {
      case 'text':
        this.write(part.text)
        return undefined
      case 'action': {
        const value = this.pipe(part.pipe, dot)
        if (part.pipe.variables.length === 0) this.write(printDatum(value))
        return undefined
      }
      case 'break':
      case 'continue':
        return part.kind
      case 'range':
        return this.scoped(() => this.range(part, dot))
      case 'if':
      case 'with':
        return this.scoped(() => {
          const value = this.pipe(part.pipe, dot)
          if (!isTruthy(value)) return this.walk(part.otherwise ?? [], dot)
          return this.walk(part.body, part.kind === 'with' ? value : dot)
        })
    }
  }

  private write(text: string): void {
    this.output += text
    if (this.output.length > OUTPUT_MAX) {
      throw new TemplateError(`the template writes over ${OUTPUT_MAX} characters`)
    }
  }

  /** Runs a task and drops the variables that it declared. */
  private scoped(task: () => Jump): Jump {
    const { length } = this.variables
    const jump = task()
    this.variables.length = length
    return jump
  }

  private range(branch: Branch, dot: Datum): Jump {
    const { pipe, body, otherwise } = branch
    const value = this.pipe(pipe, dot)
    let isEmpty = true
    for (const [key, item] of this.elements(value, pipe)) {
      isEmpty = false
      const jump = this.scoped(() => {
        this.setLoopVariables(pipe, key, item)
        return this.walk(body, item)
      })
      if (jump === 'break') break
    }
    return isEmpty ? this.walk(otherwise ?? [], dot) : undefined
  }

  private elements(value: Datum, { variables }: Pipe): Iterable<readonly [Datum, Datum]> {
    if (value === undefined) return []
    if (typeof value !== 'bigint') {
      const entries = entriesOf(value)
      if (entries !== undefined) return entries
      throw new TemplateError(`"range" cannot iterate over ${goType(value)}`)
    }
    if (variables.length > 1) throw new TemplateError('"range" over a number takes one variable')
    if (value > STEPS_MAX) throw new TemplateError('the template takes too many steps')
    return Array.from({ length: Math.max(0, Number(value)) }, (_, i) => [undefined, BigInt(i)])
  }

  /** Sets one variable to the element, or two to the key and the element. */
  private setLoopVariables({ variables, isAssigned }: Pipe, key: Datum, item: Datum): void {
    const values = variables.length > 1 ? [key, item] : [item]
    variables.forEach((name, i) => {
      this.setVariable(name, values[i], isAssigned)
    })
  }

  private setVariable(name: string, value: Datum, isAssigned: boolean): void {
    if (!isAssigned) {
      this.variables.push({ name, value })
      return
    }
    this.variable(name).value = value
  }

  private variable(name: string): Variable {
    const found = this.variables.findLast((variable) => variable.name === name)
    if (found === undefined) throw new TemplateError(`there is no variable ${name}`)
    return found
  }

  private pipe({ commands, variables, isAssigned }: Pipe, dot: Datum): Datum {
    let before: Before
    for (const command of commands) before = { value: this.command(command, dot, before) }
    for (const name of variables) this.setVariable(name, before?.value, isAssigned)
    return before?.value
  }

  private command([first, ...rest]: Command, dot: Datum, before: Before): Datum {
    const given = { operands: rest, before }
    switch (first.kind) {
      case 'function':
        return this.call(first.name, given, dot)
      case 'field':
      case 'variable':
      case 'chain':
        return this.path(this.receiver(first, dot), first.path, given, dot)
      case 'nil':
        throw new TemplateError('nil is not a command')
      default:
        if (rest.length > 0 || before !== undefined) {
          throw new TemplateError('a value that is not a function got an argument')
        }
        return this.operand(first, dot)
    }
  }

  /** Returns the value of an operand without arguments. */
  private operand(operand: Operand, dot: Datum): Datum {
    switch (operand.kind) {
      case 'dot':
        return dot
      case 'nil':
        return undefined
      case 'literal':
      case 'number':
        return operand.value
      case 'pipe':
        return this.pipe(operand.pipe, dot)
      case 'function':
        return this.call(operand.name, NOTHING_GIVEN, dot)
      default:
        return this.path(this.receiver(operand, dot), operand.path, NOTHING_GIVEN, dot)
    }
  }

  /** Returns the value that a path begins at. */
  private receiver(operand: PathOperand, dot: Datum): Datum {
    if (operand.kind === 'field') return dot
    return operand.kind === 'variable'
      ? this.variable(operand.name).value
      : this.operand(operand.from, dot)
  }

  /** Follows a path of names; the last may be a method with arguments. */
  private path(from: Datum, names: readonly string[], given: Given, dot: Datum): Datum {
    const last = names.at(-1)
    if (last === undefined) {
      if (given.operands.length > 0 || given.before !== undefined) {
        throw new TemplateError('a value that is not a function got an argument')
      }
      return from
    }
    const receiver = names
      .slice(0, -1)
      .reduce((value, name) => this.member(value, name, NOTHING_GIVEN, dot), from)
    return this.member(receiver, last, given, dot)
  }

  private member(from: Datum, name: string, given: Given, dot: Datum): Datum {
    if (from === undefined) return undefined
    const isGiven = given.operands.length > 0 || given.before !== undefined
    if (from instanceof Struct) {
      if (from.isNil) throw new TemplateError(`${from.typeName} is nil and has no .${name}`)
      const member = from.member(name)
      if (member === undefined) throw new TemplateError(`${from.typeName} has no field .${name}`)
      const args = this.args(given, { name: `.${name}`, takes: member.takes, isOpen: false }, dot)
      return member.call(...args)
    }
    if (isGiven) throw new TemplateError(`.${name} is not a method but got an argument`)
    if (from instanceof TextMap) return from.entries.get(name)
    if (isMapDatum(from)) return from.get(name)
    throw new TemplateError(`${goType(from)} has no field .${name}`)
  }

  private call(name: string, given: Given, dot: Datum): Datum {
    const known = TEMPLATE_FUNCTIONS.get(name)
    if (known === undefined) throw new TemplateError(`there is no function "${name}"`)
    if (name !== 'and' && name !== 'or') {
      return known.call(this.args(given, { name, takes: known.takes, isOpen: known.isOpen }, dot))
    }
    if (given.operands.length === 0 && given.before === undefined) throw tooFew(name, 1)
    let value: Datum
    for (const operand of given.operands) {
      value = this.operand(operand, dot)
      if (isTruthy(value) === (name === 'or')) return value
    }
    return given.before === undefined ? value : given.before.value
  }

  private args(
    { operands, before }: Given,
    { name, takes, isOpen }: Signature,
    dot: Datum,
  ): Datum[] {
    const count = operands.length + (before === undefined ? 0 : 1)
    if (count < takes.length) throw tooFew(name, takes.length)
    if (count > takes.length && !isOpen) {
      throw new TemplateError(`"${name}" takes ${takes.length} argument(s), got ${count}`)
    }
    const values = operands.map((operand, i) =>
      argument(this.operand(operand, dot), takes[i] ?? 'any', operand),
    )
    return before === undefined
      ? values
      : [...values, argument(before.value, takes[operands.length] ?? 'any')]
  }
}

type Given = { readonly operands: readonly Operand[]; readonly before: Before }
type PathOperand = Extract<Operand, { readonly path: readonly string[] }>
type Signature = {
  readonly name: string
  readonly takes: readonly ArgumentKind[]
  readonly isOpen: boolean
}

function tooFew(name: string, wanted: number): TemplateError {
  return new TemplateError(`"${name}" takes ${wanted} argument(s) or more`)
}

/** Checks an argument's type. A literal such as `1.0` or `'a'` may stand for an int. */
function argument(value: Datum, kind: ArgumentKind, operand?: Operand): Datum {
  if (kind === 'any') return value
  const isIntLiteral = operand?.kind === 'number' && Number.isInteger(value)
  const fit = kind === 'int' && isIntLiteral && typeof value === 'number' ? BigInt(value) : value
  const wanted = kind === 'int' ? 'bigint' : 'string'
  if (typeof fit === wanted) return fit
  throw new TemplateError(`expected ${kind}, got ${goType(fit)}`)
}
