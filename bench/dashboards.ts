/**
 * Draws the chart's dashboards as docs/dashboards.md shows them, from a Prometheus that has scraped
 * for a while: `node bench/dashboards.ts URL`. No Grafana takes part: layout, titles, expressions
 * and units are those of the JSON, and the values are what Prometheus answers.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartSvg } from './chart.ts'
import { PICTURES } from './plots.ts'

const DASHBOARDS = join(import.meta.dirname, '../deploy/chart/dashboards')
const NAMES = ['server', 'gateway', 'exporter']
/** Pixels of a column and of a row of the grid. */
const [COLUMN, ROW] = [54, 34]
const HEAD = 26
/** Time that is drawn, and the interval of its points, in seconds. */
const [SPAN, STEP] = [240, 5]
const FONT = 'system-ui, sans-serif'
const COLOURS = ['#2563eb', '#d4a24c', '#7fb08a', '#9ca3af', '#b45309', '#7c3aed', '#0e7490']
const [INK, FAINT] = ['#24292f', '#d0d7de']
const TEXT = { color: INK, fontFamily: FONT, fontSize: 10 }

type Panel = {
  readonly type: string
  readonly title: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

type Series = {
  readonly metric: Readonly<Record<string, string>>
  readonly values: readonly (readonly [seconds: number, value: string])[]
}

/** What Prometheus answers. */
type Answer = { readonly data?: { readonly result: Series[] }; readonly error?: string }

async function query(url: string, expr: string, job: string): Promise<Series[]> {
  const end = Math.floor(Date.now() / 1000 / STEP) * STEP
  const text = expr
    .replaceAll('$__rate_interval', '30s')
    .replaceAll('$__range', `${SPAN}s`)
    .replaceAll('$job', job)
    .replaceAll(/\$(cluster|instance)/g, '.*')
  const given = { query: text, start: `${end - SPAN}`, end: `${end}`, step: `${STEP}` }
  const response = await fetch(`${url}/api/v1/query_range?${new URLSearchParams(given)}`)
  const { data, error }: Answer = JSON.parse(await response.text())
  if (data === undefined) throw new Error(`${expr}: ${error}`)
  return data.result
}

function labelled(format: string, metric: Series['metric']): string {
  return format.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name) =>
    // Of a pod, what its owner has added.
    (metric[name] ?? '').replace(/^kubedoh-(server|gateway|exporter)-\w+-/, ''),
  )
}

/** Writes a number with the unit of a panel. */
function withUnit(value: number, unit: string): string {
  const short = (one: number): string => String(Number(one.toPrecision(3)))
  if (unit === 's') return value < 1 ? `${short(value * 1000)} ms` : `${short(value)} s`
  if (unit === 'percentunit') return `${short(value * 100)} %`
  if (unit === 'bytes' || unit === 'decbytes') {
    return value < 2 ** 20 ? `${short(value)} B` : `${short(value / 2 ** 20)} MiB`
  }
  if (unit === 'Bps') return `${short(value / 1024)} KiB/s`
  return value >= 10_000 ? `${short(value / 1000)} k` : short(value)
}

type Named = Pick<Series, 'values'> & { readonly name: string }

function drawSeries(
  size: { readonly width: number; readonly height: number },
  series: readonly Named[],
  unit: string,
): string {
  const line = { lineStyle: { color: FAINT, opacity: 0.5 } }
  const end = Math.max(0, ...series.map(({ values }) => values.at(-1)?.[0] ?? 0))
  // Without a browser, echarts leaves no room for the rows of a legend.
  const characters = series.reduce((sum, { name }) => sum + name.length + 5, 0)
  const rows = Math.ceil((characters * 6) / size.width)
  return chartSvg(size, {
    legend: {
      bottom: 0,
      left: 4,
      itemWidth: 10,
      itemHeight: 8,
      textStyle: TEXT,
      icon: 'roundRect',
    },
    grid: { left: 60, right: 22, top: 8, bottom: 24 + 20 * rows, outerBoundsMode: 'none' },
    xAxis: {
      ...{ type: 'value', min: -SPAN / 60, max: 0, splitLine: line },
      axisLabel: { ...TEXT, formatter: '{value} min' },
    },
    yAxis: {
      ...{ type: 'value', min: 0, splitNumber: 3, splitLine: line, axisLine: { show: false } },
      ...{ axisTick: { show: false } },
      axisLabel: { ...TEXT, formatter: (value: number) => withUnit(value, unit) },
    },
    series: series.map(({ name, values }, i) => ({
      ...{ type: 'line', symbol: 'none', name },
      ...{ lineStyle: { width: 1.2 }, itemStyle: { color: COLOURS[i % COLOURS.length] } },
      data: values.map(([seconds, value]) => [(seconds - end) / 60, Number(value)]),
    })),
  })
}

async function drawPanel(url: string, panel: Panel, job: string): Promise<string> {
  const { gridPos, title, type, targets } = panel
  const { unit = '' } = panel.fieldConfig.defaults
  const [width, height] = [gridPos.w * COLUMN - 8, gridPos.h * ROW - 8]
  const all = await Promise.all(
    targets.map(async ({ expr, legendFormat }) =>
      (await query(url, expr, job)).map((one) => ({ ...one, legendFormat })),
    ),
  )
  const series = all.flat()
  const frame =
    `<svg x="${gridPos.x * COLUMN + 4}" y="${gridPos.y * ROW + HEAD + 4}" width="${width}" height="${height}">` +
    `<rect width="${width}" height="${height}" rx="4" fill="none" stroke="${FAINT}"/>` +
    `<text x="8" y="17" font-size="12" font-weight="600" fill="${INK}">${title}</text>`
  if (type === 'stat') {
    const last = Number(series[0]?.values.at(-1)?.[1] ?? Number.NaN)
    const shown = Number.isNaN(last) ? '–' : withUnit(last, unit)
    const at = `x="${width / 2}" y="${height / 2 + 20}" text-anchor="middle"`
    return `${frame}<text ${at} font-size="28" fill="${COLOURS[0]}">${shown}</text></svg>`
  }
  const named = series.map(({ metric, values, legendFormat }) => ({
    name: labelled(legendFormat, metric) || title,
    values,
  }))
  const chart = drawSeries({ width, height: height - 20 }, named, unit)
  return `${frame}<g transform="translate(0 22)">${chart}</g></svg>`
}

async function drawDashboard(url: string, name: string): Promise<string> {
  const { title, panels }: { title: string; panels: readonly Panel[] } = JSON.parse(
    readFileSync(join(DASHBOARDS, `${name}.json`), 'utf8'),
  )
  const drawn = await Promise.all(panels.map((panel) => drawPanel(url, panel, `kubedoh-${name}`)))
  const rows = Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h))
  const [width, height] = [24 * COLUMN, rows * ROW + HEAD + 4]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="${FONT}" role="img">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="8" y="19" font-size="15" font-weight="600" fill="${INK}">${title}</text>`,
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

if (import.meta.main) {
  const [url = 'http://127.0.0.1:9090'] = process.argv.slice(2)
  for (const name of NAMES) {
    writeFileSync(join(PICTURES, `dashboard-${name}.svg`), await drawDashboard(url, name))
  }
}
