/**
 * The Grafana dashboards of the chart.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../../deploy/chart/dashboards')

/** What the tests read of a dashboard. */
export type Dashboard = {
  /** File name. */
  readonly name: string
  readonly text: string
  readonly panels: readonly {
    readonly title: string
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
    readonly fieldConfig: { readonly defaults: { readonly unit: string } }
    readonly targets: readonly { readonly expr: string }[]
  }[]
  readonly templating: { readonly list: readonly { readonly name: string }[] }
}

/** Returns all dashboards. */
export function readDashboards(): readonly Dashboard[] {
  return readdirSync(FOLDER).map((name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8')
    return { ...JSON.parse(text), name, text }
  })
}

/** Returns the queries of a dashboard. */
export function queriesOf({ panels }: Dashboard): readonly string[] {
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
}

/** Returns the metrics of a query. */
export function metricsOf(query: string): readonly string[] {
  return [...query.matchAll(/\b[a-z]+(_[a-z0-9]+)+(?=[{[])/g)].map(([name]) => name)
}
