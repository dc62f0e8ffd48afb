/**
 * `kubedoh generations`, `diff` and `rollback`: the history of a cluster at the gateway.
 * @module
 */
import { listOf, recordOf } from '../../dns/bytes/unknown.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'
import { callGateway, formatColumns, printResponse } from '../flags/operator-call.ts'

/** Prints the generations of a cluster that the gateway keeps. */
export async function runGenerations(input: Input, output: Output): Promise<void> {
  const text = await callGateway(input, 'GET', pathOf(input, 'generations'))
  printResponse(input, output, [text, formatHistory])
}

/** Prints the records that changed between two generations; the second defaults to the newest. */
export async function runDiff(input: Input, output: Output): Promise<void> {
  const [, from = '', to = ''] = input.args
  const query = new URLSearchParams({ from, ...(to === '' ? {} : { to }) })
  output.stdout.write(await callGateway(input, 'GET', `${pathOf(input, 'diff')}?${query}`))
}

/** Makes the gateway answer from an older generation, or with `--release` from the newest. */
export async function runRollback(input: Input, output: Output): Promise<void> {
  const [, generation = ''] = input.args
  const isRelease = input.isSet('release')
  if (isRelease === (generation !== '')) {
    throw new CommandError('rollback needs either a generation or --release')
  }
  const body = isRelease ? undefined : `{"generation": ${generation}}`
  const method = isRelease ? 'DELETE' : 'PUT'
  const text = await callGateway(input, method, pathOf(input, 'pin'), body)
  const { served } = recordOf(JSON.parse(text))
  const until = isRelease ? '' : ' until rollback --release; new publications do not change that'
  output.stdout.write(`the gateway answers from generation ${served}${until}\n`)
}

function pathOf({ args: [cluster = ''] }: Input, what: string): string {
  return `/v1/clusters/${encodeURIComponent(cluster)}/${what}`
}

function formatHistory(value: unknown): string {
  const { served, isPinned, generations } = recordOf(value)
  const rows = listOf(generations).map((one) => {
    const { generation, time, records, bytes } = recordOf(one)
    const mark = generation !== served ? '' : isPinned === true ? 'rolled back' : 'current'
    return [String(generation), String(time), String(records), String(bytes), mark]
  })
  return formatColumns([['GENERATION', 'CONFIRMED', 'RECORDS', 'BYTES', ''], ...rows])
}
