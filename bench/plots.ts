/**
 * `npm run plots`: draws the rows of `results.jsonl` and `soak.jsonl` for docs/benchmarks.md, for
 * light and dark pages.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PARTS, type Turn } from '../test/real-node/soak-turn.ts'
import { chartSvg } from './chart.ts'
import { FIXED, type Row } from './row.ts'

/** The published rows of `npm run bench -- server gateway edge --json`. */
export const RESULTS: string = join(import.meta.dirname, 'results.jsonl')
/** The rows of `npm run soak:long`. */
export const SOAK: string = join(import.meta.dirname, 'soak.jsonl')
/** The folder of the pictures. */
export const PICTURES: string = join(import.meta.dirname, '../docs/pictures')

const WIDTH = 720
const BAR_HEIGHT = 20
const GROUP_GAP = 22
const FRAME_HEIGHT = 90
const FONT = 'system-ui, sans-serif'
const THEMES = {
  light: {
    ink: '#24292f',
    faint: '#d0d7de',
    ours: '#2563eb',
    peers: ['#9ca3af', '#d4a24c', '#7fb08a'],
  },
  dark: {
    ink: '#d1d9e0',
    faint: '#3d444d',
    ours: '#6ea8fe',
    peers: ['#7d8590', '#c9963a', '#5f9a6d'],
  },
} as const

type Theme = (typeof THEMES)[keyof typeof THEMES]

/** A plot: rows by the labels of their bars. */
type Plot = {
  readonly name: string
  readonly title: string
  readonly unit: string
  /** Whether values differ so much that they need a scale of powers of ten. */
  readonly isWide?: boolean
  /** The metrics of rows, and the labels of their groups. */
  readonly groups: readonly (readonly [metric: RegExp, label: string])[]
}

const PLOTS: readonly Plot[] = [
  {
    name: 'cpu',
    title: 'CPU time of the server for a query',
    unit: 'µs',
    groups: [
      [/^CPU per query, UDP A, kubeadm's Corefile$/, 'UDP, A'],
      [/^CPU per query, UDP mix, kubeadm's Corefile$/, 'UDP, mixed types'],
      [/^CPU per query, TCP A, pipelined$/, 'TCP, A'],
      [/^CPU for a GET on Node/, 'HTTPS GET, Node'],
      [/^CPU for a POST on Node/, 'HTTPS POST, Node'],
      [/^CPU for a GET on Bun/, 'HTTPS GET, Bun'],
      [/^CPU for a POST on Bun/, 'HTTPS POST, Bun'],
    ],
  },
  {
    name: 'changes',
    title: 'From a change of the cluster to its answer',
    unit: 'ms',
    isWide: true,
    groups: [
      [/^change → answered, p50/, 'quiet, median'],
      [/^change → answered, p99/, 'quiet, p99'],
      [/^change → answered at 200 changes\/s, p50/, '200 changes/s, median'],
      [/^change → answered at 200 changes\/s, p99/, '200 changes/s, p99'],
    ],
  },
  {
    name: 'edge',
    title: 'From a change to its answer at the edge, by the distance of the objects',
    unit: 'ms',
    groups: [0, 100, 250].flatMap((ms) => [
      [new RegExp(`^change → answered, objects ${ms} ms away.* p50$`), `${ms} ms away, median`],
      [new RegExp(`^change → answered, objects ${ms} ms away.* p99$`), `${ms} ms away, p99`],
    ]),
  },
  {
    name: 'memory',
    title: 'Resident memory after load',
    unit: 'MB',
    groups: [
      [/^resident memory, demo cluster$/, 'demo cluster'],
      [/^resident memory, \d?\d,\d{3} endpoints$/, 'ENDPOINTS'],
      [/^resident memory, \d{3},\d{3} endpoints$/, 'ENDPOINTS'],
    ],
  },
]

/** Draws all plots. Returns their SVG by file name. */
export function drawPlots(rows: readonly Row[]): ReadonlyMap<string, string> {
  const files = PLOTS.flatMap((plot) =>
    Object.entries(THEMES).map(
      ([theme, colours]) => [`bench-${plot.name}-${theme}.svg`, draw(plot, rows, colours)] as const,
    ),
  )
  return new Map(files)
}

/** Draws a soak: memory by time, and what failed. Returns SVG by file name. */
export function drawSoak(turns: readonly Turn[]): ReadonlyMap<string, string> {
  const files = Object.entries(THEMES).map(
    ([theme, colours]) => [`soak-${theme}.svg`, drawTurns(turns, colours)] as const,
  )
  return new Map(files)
}

/** Reads the rows of a file. */
export function readRows<One = Row>(path: string): One[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}

/**
 * Returns the labels of the groups that have rows, and the values of each server in their
 * order.
 */
function seriesOf(
  { groups }: Plot,
  rows: readonly Row[],
): { readonly labels: string[]; readonly values: ReadonlyMap<string, (number | undefined)[]> } {
  const values = new Map<string, (number | undefined)[]>([['kubedoh', []]])
  const found = groups.map(([pattern, label]) => ({
    label,
    rows: rows.filter(({ metric }) => pattern.test(metric)),
  }))
  const measured = found.filter((group) => group.rows.length > 0)
  const labels = measured.map(({ label, rows: [first, ...others] }, i) => {
    const set = (name: string, value: number | undefined): void => {
      const all = values.get(name) ?? []
      all[i] = value
      values.set(name, all)
    }
    set('kubedoh', first?.ours)
    for (const { peerName, peer } of first === undefined ? [] : [first, ...others]) {
      // Not which part of it: "CoreDNS's https://". A fixed response is no answer of a peer.
      if (peerName?.endsWith(FIXED) === false) set(peerName.replace(/'s .*/, ''), peer)
    }
    const [, endpoints = label] = /, (\S+ endpoints)$/.exec(first?.metric ?? '') ?? []
    return endpoints
  })
  return { labels, values }
}

function draw(plot: Plot, rows: readonly Row[], theme: Theme): string {
  const { labels, values } = seriesOf(plot, rows)
  const bars = plot.isWide ? 1.6 : values.size
  const height = FRAME_HEIGHT + labels.length * (bars * BAR_HEIGHT + GROUP_GAP)
  const text = { color: theme.ink, fontFamily: FONT, fontSize: 13 }
  const svg = chartSvg(
    { width: WIDTH, height },
    {
      title: {
        text: `${plot.title} (${plot.unit})`,
        textStyle: { ...text, fontSize: 15 },
        left: 0,
      },
      legend: { top: 34, left: 0, itemGap: 16, textStyle: text, icon: 'roundRect' },
      // Room for the longest label: without a browser, echarts guesses how wide a text is.
      grid: { left: 164, right: 56, top: 66, bottom: 24, outerBoundsMode: 'none' },
      yAxis: {
        ...{ type: 'category', inverse: true, data: labels, axisTick: { show: false } },
        ...{ axisLine: { lineStyle: { color: theme.faint } }, axisLabel: text },
      },
      xAxis: {
        ...{ type: plot.isWide ? 'log' : 'value', axisLabel: { ...text, fontSize: 11 } },
        splitLine: { lineStyle: { color: theme.faint, opacity: 0.5 } },
      },
      series: Array.from(values, ([name, all], i) => ({
        name,
        type: plot.isWide ? 'scatter' : 'bar',
        data: labels.map((_, group) => (all[group] === undefined ? null : rounded(all[group]))),
        itemStyle: { color: i === 0 ? theme.ours : theme.peers[i - 1], opacity: 1 },
        ...(plot.isWide ? { symbolSize: 13 } : { barWidth: BAR_HEIGHT - 4, barGap: '20%' }),
        label: {
          ...{ show: true, color: theme.ink, fontFamily: FONT, fontSize: 12 },
          position: plot.isWide ? (i === 0 ? 'top' : 'bottom') : 'right',
        },
      })),
    },
  )
  return titled(svg, plot.title)
}

function drawTurns(turns: readonly Turn[], theme: Theme): string {
  const height = 320
  const text = { color: theme.ink, fontFamily: FONT, fontSize: 13 }
  const title = 'Memory (MiB) while pods are replaced and killed, and what failed'
  const small = { ...text, fontSize: 11 }
  const axis = { axisLabel: small, splitLine: { lineStyle: { color: theme.faint, opacity: 0.5 } } }
  const colours = [theme.ours, ...theme.peers]
  const failures = ({ lost, failed }: Turn): number => lost + failed
  const svg = chartSvg(
    { width: WIDTH, height },
    {
      title: { text: title, textStyle: { ...text, fontSize: 15 }, left: 0 },
      legend: { top: 34, left: 0, itemGap: 16, textStyle: text, icon: 'roundRect' },
      grid: { left: 44, right: 44, top: 74, bottom: 44, outerBoundsMode: 'none' },
      xAxis: {
        ...{ type: 'value', name: 'minutes', nameLocation: 'middle', nameGap: 26 },
        ...{ nameTextStyle: small, ...axis },
      },
      yAxis: [
        { type: 'value', ...axis },
        {
          type: 'value',
          minInterval: 1,
          max: ({ max }: { max: number }) => Math.max(10, max),
          ...axis,
          splitLine: { show: false },
        },
      ],
      series: [
        ...PARTS.map((part, i) => ({
          ...{ name: part, type: 'line', symbol: 'none', itemStyle: { color: colours[i] } },
          data: turns.map(({ minutes, memory }) => [Math.round(minutes * 10) / 10, memory[part]]),
        })),
        {
          ...{ name: 'queries lost and requests failed (right)', type: 'scatter', yAxisIndex: 1 },
          ...{ symbolSize: 7, itemStyle: { color: theme.peers[2], opacity: 1 } },
          data: turns
            .filter((turn) => failures(turn) > 0)
            .map((turn) => [Math.round(turn.minutes * 10) / 10, failures(turn)]),
        },
      ],
    },
  )
  return titled(svg, title)
}

/** Adds a title for people who do not see the picture. */
function titled(svg: string, title: string): string {
  return `${svg.replace('>', ` role="img">\n<title>${title}</title>`)}\n`
}

/** Rounds to three digits, which is more than a machine repeats. */
function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(value < 10 ? 2 : 3))
}

if (import.meta.main) {
  const drawn = [...drawPlots(readRows(RESULTS)), ...drawSoak(readRows(SOAK))]
  for (const [name, svg] of drawn) writeFileSync(join(PICTURES, name), svg)
}
