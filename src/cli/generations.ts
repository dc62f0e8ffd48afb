/**
 * `kubedoh generations`, `diff` and `rollback`: what a cluster has published, and going back to it.
 * @module
 */
import { recordOf } from '../bytes/unknown.ts'
import { CommandError, type Output } from '../node/output.ts'
import { formatColumns } from './columns.ts'
import type { Input } from './flags.ts'
import { callGateway } from './operator-call.ts'

/** Prints the generations that the gateway keeps of a cluster. */
export async function runGenerations(input: Input, output: Output): Promise<void> {
  const text = await callGateway(input, 'GET', pathOf(input, 'generations'))
  if (input.isSet('json')) output.stdout.write(text)
  else output.stdout.write(formatHistory(text))
}

/** Prints the records that changed from one generation to another, by default the newest. */
export async function runDiff(input: Input, output: Output): Promise<void> {
  const [, from = '', to = ''] = input.args
  const query = new URLSearchParams({ from, ...(to === '' ? {} : { to }) })
  output.stdout.write(await callGateway(input, 'GET', `${pathOf(input, 'diff')}?${query}`))
}

/** Has the gateway answer from an older generation, or with `--release` from the newest again. */
export async function runRollback(input: Input, output: Output): Promise<void> {
  const [, generation = ''] = input.args
  const isRelease = input.isSet('release')
  if (isRelease === (generation !== '')) {
    throw new CommandError('rollback takes a generation to go back to, or --release')
  }
  const body = isRelease ? undefined : `{"generation": ${generation}}`
  const method = isRelease ? 'DELETE' : 'PUT'
  const { served } = recordOf(
    JSON.parse(await callGateway(input, method, pathOf(input, 'pin'), body)),
  )
  const until = isRelease ? '' : ', whatever is published, until rollback --release'
  output.stdout.write(`answers come from generation ${served}${until}\n`)
}

function pathOf({ args: [cluster = ''] }: Input, what: string): string {
  return `/v1/clusters/${encodeURIComponent(cluster)}/${what}`
}

function formatHistory(text: string): string {
  const { served, isPinned, generations } = recordOf(JSON.parse(text))
  const rows = (Array.isArray(generations) ? generations : []).map((one) => {
    const { generation, time, records, bytes } = recordOf(one)
    const mark = generation !== served ? '' : isPinned === true ? 'rolled back to' : 'answers'
    return [String(generation), String(time), String(records), String(bytes), mark]
  })
  return formatColumns([['GENERATION', 'CONFIRMED', 'RECORDS', 'OCTETS', ''], ...rows])
}
