/**
 * Label selectors in the API's query syntax: `tier=gold,env in (a,b),!legacy`
 * (k8s.io/apimachinery/pkg/labels, `labels.Parse`).
 * @module
 */
import type { Labels } from './objects.ts'

type Requirement = {
  readonly key: string
  readonly operator: 'in' | 'notin' | 'exists' | 'missing'
  readonly values: readonly string[]
}

/** All requirements must hold; a selector without any matches every object. */
export type Selector = readonly Requirement[]

const NAME = /[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?/
/** Up to 253 characters, in which neither a dot nor a dash is beside a dot. */
const PREFIX = /(?![^/]*(?:\.[-.]|-\.))[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\//
const KEY = new RegExp(`^(?:${PREFIX.source})?${NAME.source}$`)
const VALUE = new RegExp(`^(?:${NAME.source})?$`)

/** Parses a selector. @returns `undefined` if it is invalid */
export function parseSelector(text: string): Selector | undefined {
  const requirements: Requirement[] = []
  for (const part of splitOutsideParentheses(text)) {
    const requirement = parseRequirement(part.trim())
    if (requirement === undefined) return undefined
    requirements.push(requirement)
  }
  return requirements
}

/** Returns whether labels match a selector. A missing label does not equal anything. */
export function matchesSelector(selector: Selector, labels: Labels): boolean {
  return selector.every((requirement) => isMet(requirement, labels.get(requirement.key)))
}

function isMet({ operator, values }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'in':
      return value !== undefined && values.includes(value)
    case 'notin':
      return value === undefined || !values.includes(value)
    case 'exists':
      return value !== undefined
    case 'missing':
      return value === undefined
  }
}

function splitOutsideParentheses(text: string): string[] {
  return text.trim() === '' ? [] : text.split(/,(?![^(]*\))/)
}

function parseRequirement(text: string): Requirement | undefined {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(text)
  if (set !== null) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim())
    return check({ key: set[1] ?? '', operator: set[2] === 'in' ? 'in' : 'notin', values })
  }
  const equal = /^([^=!\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/.exec(text)
  if (equal !== null) {
    const operator = equal[2] === '!=' ? 'notin' : 'in'
    return check({ key: equal[1] ?? '', operator, values: [equal[3] ?? ''] })
  }
  return text.startsWith('!')
    ? check({ key: text.slice(1).trim(), operator: 'missing', values: [] })
    : check({ key: text, operator: 'exists', values: [] })
}

function check(requirement: Requirement): Requirement | undefined {
  const isValid = KEY.test(requirement.key) && requirement.values.every((v) => VALUE.test(v))
  return isValid ? requirement : undefined
}
