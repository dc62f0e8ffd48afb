/**
 * Draws a chart as SVG. The only file that imports echarts: it draws SVG without a browser, with
 * types and two packages of its own.
 * @module
 */
import { BarChart, LineChart, ScatterChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components'
import { type EChartsCoreOption, init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'

use([BarChart, LineChart, ScatterChart])
use([GridComponent, LegendComponent, TitleComponent, SVGRenderer])

/** Draws a chart. @param options of echarts */
export function chartSvg(
  { width, height }: { readonly width: number; readonly height: number },
  options: EChartsCoreOption,
): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({ animation: false, backgroundColor: 'transparent', ...options })
  const svg = chart.renderToSVGString()
  chart.dispose()
  // Its styles are for a pointer, and their names count the charts of the process.
  return svg.replace(/<style[\s\S]*<\/style>\n?/, '').replaceAll(/ class="[^"]*"/g, '')
}
