/**
 * What benchmarks measure, as rows: printed as a table and written as JSON, one object a line.
 * @module
 */

/** How the names of peers end that know no answer. */
export const FIXED = 'with a fixed response'

/** One number, and what it is held against. */
export type Row = {
  readonly bench: string
  readonly metric: string
  readonly unit: string
  readonly ours: number
  /** The peer's number, in the same unit and of the same run. */
  readonly peer?: number
  readonly peerName?: string
  /** How many times better ours is than the peer's. */
  readonly ratio?: number
  /** Ours divided by the peer's: the median of the quotients of rounds. */
  readonly quotient?: number
  /** The goal, for people. */
  readonly goal?: string
  /** Whether the goal is met. */
  readonly holds?: boolean
}

/** A bound that a number must keep. */
export type Goal = { readonly atMost: number } | { readonly atLeast: number }

/** Makes a row of a number alone. */
export function row(bench: string, metric: string, unit: string, ours: number, goal?: Goal): Row {
  return { bench, metric, unit, ours, ...judged(ours, goal, unit) }
}

/**
 * Makes a row of a number that is better the smaller it is, beside a peer's; the goal is for the
 * ratio.
 */
export function ratioRow(
  base: { readonly bench: string; readonly metric: string; readonly unit: string },
  ours: number,
  peer: { readonly name: string; readonly value: number },
  goal?: Goal,
): Row {
  const ratio = peer.value / ours
  const held = { peer: peer.value, peerName: peer.name, ratio }
  return { ...base, ours, ...held, ...judged(ratio, goal, '×') }
}

/**
 * Makes a row of the medians of two servers that were measured in turn, a number of each in each
 * round; the goal is for the quotient.
 */
export function quotientRow(
  base: { readonly bench: string; readonly metric: string; readonly unit: string },
  ours: readonly number[],
  peer: { readonly name: string; readonly rounds: readonly number[] },
  goal?: Goal,
): Row {
  const quotient = median(ours.map((one, i) => one / (peer.rounds[i] ?? Number.NaN)))
  const held = { peer: median(peer.rounds), peerName: peer.name, quotient }
  return { ...base, ours: median(ours), ...held, ...judged(quotient, goal, '') }
}

/** Formats rows as a table. */
export function formatTable(rows: readonly Row[]): string {
  const head = ['bench', 'metric', 'ours', 'peer', 'ratio', 'goal', '']
  const cells = rows.map((one) => [
    one.bench,
    one.metric,
    `${formatNumber(one.ours)} ${one.unit}`,
    one.peer === undefined ? '' : `${formatNumber(one.peer)} ${one.unit} ${one.peerName}`,
    formatRatio(one),
    one.goal ?? '',
    one.holds === undefined ? '' : one.holds ? 'holds' : 'missed',
  ])
  return formatColumns([head, ...cells])
}

/** Formats lines of cells as a table, each column as wide as its longest cell. */
export function formatColumns(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]?.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const format = (line: readonly string[]): string =>
    line
      .map((cell, i) => cell.padEnd(widths?.[i] ?? 0))
      .join('  ')
      .trimEnd()
  return lines.map((line) => `${format(line)}\n`).join('')
}

/**
 * Formats rows as a Markdown table for documents, one line for each number of ours with all of its
 * peers.
 */
export function formatMarkdown(rows: readonly Row[]): string {
  const lines = Map.groupBy(rows, ({ metric, unit, ours }) =>
    [metric, `${formatNumber(ours)} ${unit}`].join(' | '),
  )
  const table = Array.from(lines, ([start, all]) => {
    const peers = all.flatMap((one) =>
      one.peer === undefined
        ? []
        : `${one.peerName} ${formatNumber(one.peer)} ${one.unit}, ${formatRatio(one)}`,
    )
    const goals = all.flatMap(({ goal, holds }) =>
      goal === undefined ? [] : `${goal}${holds === true ? '' : ' (missed)'}`,
    )
    return `| ${start} | ${peers.join('; ')} | ${goals.join('; ')} |\n`
  })
  return `| | kubedoh | for comparison | goal |\n|---|---|---|---|\n${table.join('')}`
}

/** Returns the middle one of some numbers; NaN among them does not count. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.filter((one) => !Number.isNaN(one)).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function judged(value: number, goal: Goal | undefined, unit: string): Partial<Row> {
  if (goal === undefined) return {}
  return 'atMost' in goal
    ? { goal: `≤ ${formatNumber(goal.atMost)} ${unit}`.trim(), holds: value <= goal.atMost }
    : { goal: `≥ ${formatNumber(goal.atLeast)} ${unit}`.trim(), holds: value >= goal.atLeast }
}

function formatRatio({ ratio, quotient }: Row): string {
  if (quotient !== undefined) return `ours ÷ its ${formatNumber(quotient)}`
  return ratio === undefined ? '' : `${formatNumber(ratio)} ×`
}

function formatNumber(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return Number(value.toPrecision(3)).toString()
}
