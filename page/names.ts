/**
 * Names as the page browses them: the way from a zone to a Service, and what to query there.
 * @module
 */
import { labelOffsets, parseName } from '../src/dns/names/name.ts'
import { plainName } from './visible.ts'

/** A cluster behind a zone, and how fresh its names are. */
export type Cluster = {
  readonly cluster: string
  readonly tree: string
  readonly freshness: string
  readonly generation: number | null
  readonly ageSeconds: number | null
}

/** A zone that the token sees. */
export type Zone = { readonly zone: string; readonly clusters: readonly Cluster[] }

/** A listed name and the types of its records. */
export type Name = { readonly name: string; readonly types: readonly string[] }

/** A step of the way to a name. */
export type Crumb = { readonly text: string; readonly under: string }

/** Labels of a Service's name below its zone: `web.shop.svc`. */
const SERVICE_LABELS = 3
/** Trees that have their Services below `svc`. */
const WITH_SERVICES = new Set(['cluster', 'multicluster', 'exports'])
/** A type that people rather want than others at the same name. */
const PREFERRED = ['A', 'AAAA', 'CNAME', 'SRV']

/** Returns whether a zone has namespaces and Services, not only hostnames. */
export function hasServices({ clusters }: Zone): boolean {
  return clusters.some(({ tree }) => WITH_SERVICES.has(tree))
}

/** Returns where to browse a zone from: its namespaces, if it has any. */
export function startOf(zone: Zone): string {
  return hasServices(zone) ? `svc.${zone.zone}` : zone.zone
}

/** Returns how many labels a name has below a zone; 0 for no name. */
export function depthOf(name: string, zone: string): number {
  const [all, own] = [name, zone].map((text) => {
    const wire = parseName(text)
    return wire === undefined ? 0 : labelOffsets(wire).length
  })
  return Math.max(0, (all ?? 0) - (own ?? 0))
}

/** Returns whether a listed name leads to names below it. */
export function opens(name: Name, zone: Zone): boolean {
  const depth = depthOf(name.name, zone.zone)
  if (!hasServices(zone)) return name.types.length === 0
  return depth < SERVICE_LABELS ? name.types.length === 0 : depth === SERVICE_LABELS
}

/** Returns the type to query a listed name for; `undefined` for a name without records. */
export function typeFor({ types }: Name): string | undefined {
  return PREFERRED.find((type) => types.includes(type)) ?? types[0]
}

/** Returns a name without what it shares with the name above it. */
export function shortName(name: string, under: string): string {
  const tail = `.${under}`
  return name.endsWith(tail) ? name.slice(0, -tail.length) : plainName(name)
}

/** Returns the steps from a zone to a name below it. */
export function crumbsOf(under: string, zone: string): readonly Crumb[] {
  const steps: Crumb[] = [{ text: plainName(zone), under: zone }]
  if (!under.endsWith(`.${zone}`)) return steps
  const labels = under.slice(0, -zone.length - 1).split('.')
  for (let from = labels.length - 1; from >= 0; from--) {
    steps.push({ text: labels[from] ?? '', under: `${labels.slice(from).join('.')}.${zone}` })
  }
  return steps
}

/** Returns the complete name that somebody may have meant by a short one: `web.shop`. */
export function completions(text: string, zones: readonly Zone[]): readonly string[] {
  const short = text.replace(/\.$/, '')
  if (short === '' || !short.includes('.')) return []
  const isWhole = zones.some(({ zone }) => `.${short}.`.endsWith(`.${zone}`))
  return isWhole
    ? []
    : zones.filter(hasServices).map(({ zone }) => `${short}.svc.${plainName(zone)}`)
}
