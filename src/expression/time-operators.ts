/**
 * What operators do with times and durations.
 * @module
 */
import type { Operation } from './operators.ts'
import { Duration, Time } from './time-values.ts'
import { BOOL, DURATION, FLOAT, INT, TIME, type Type, UNKNOWN } from './type.ts'
import type { Value } from './value.ts'

type Rule = readonly [left: Type, right: Type, result: Type]

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  '+': [
    [TIME, DURATION, TIME],
    [DURATION, TIME, TIME],
    [DURATION, DURATION, DURATION],
  ],
  '-': [
    [TIME, DURATION, TIME],
    [TIME, TIME, DURATION],
    [DURATION, DURATION, DURATION],
  ],
  '*': [
    [DURATION, INT, DURATION],
    [INT, DURATION, DURATION],
    [DURATION, DURATION, DURATION],
    [DURATION, FLOAT, FLOAT],
    [FLOAT, DURATION, FLOAT],
  ],
  ...Object.fromEntries(
    ['<', '>', '<=', '>='].map((operator): [string, readonly Rule[]] => [
      operator,
      [
        [TIME, TIME, BOOL],
        [DURATION, DURATION, BOOL],
      ],
    ]),
  ),
}

/** Adds what an operator does with times to what it does else. */
export function withTimes(operator: string, base: Operation): Operation {
  const rules = RULES[operator]
  if (rules === undefined) return base
  return {
    typeOf: (left, right) =>
      isOfTime(left) || isOfTime(right) ? resultOf(rules, left, right) : base.typeOf(left, right),
    apply: (a, b) => calculated(operator, a, b) ?? base.apply(a, b),
  }
}

function isOfTime({ kind }: Type): boolean {
  return kind.startsWith('time.')
}

function resultOf(rules: readonly Rule[], left: Type, right: Type): Type | undefined {
  const fits = (wanted: Type, { kind }: Type): boolean => kind === 'unknown' || wanted.kind === kind
  const [found, other] = rules.filter(([a, b]) => fits(a, left) && fits(b, right))
  return other === undefined ? found?.[2] : found?.[2] === BOOL ? BOOL : UNKNOWN
}

/** `undefined` for what is nothing of times, or has no meaning. */
function calculated(operator: string, a: Value, b: Value): Value {
  if (operator === '*') return multiplied(a, b) ?? multiplied(b, a)
  const isSum = operator === '+'
  if (!isSum && operator !== '-') return undefined
  if (b instanceof Duration) {
    const by = isSum ? b.key : -b.key
    if (a instanceof Time) return new Time(a.key + by, a.zone)
    return a instanceof Duration ? new Duration(a.key + by) : undefined
  }
  if (!(b instanceof Time)) return undefined
  if (a instanceof Duration && isSum) return new Time(a.key + b.key, b.zone)
  return a instanceof Time && !isSum ? new Duration(a.key - b.key) : undefined
}

function multiplied(a: Value, b: Value): Value {
  if (!(a instanceof Duration)) return undefined
  if (typeof b === 'number') return Number(a.key) * b
  const by = b instanceof Duration ? b.key : b
  return typeof by === 'bigint' ? new Duration(a.key * by) : undefined
}
