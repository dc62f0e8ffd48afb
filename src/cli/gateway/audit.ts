/**
 * `kubedoh audit`: prints which requests operators have sent to a gateway.
 * @module
 */
import { listOf, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { durationSeconds } from '../flags/duration.ts'
import type { Input } from '../flags/flags.ts'
import { callGateway, formatColumns, printResponse } from '../flags/operator-call.ts'

/** Most lines that the gateway sends at a time. */
const PAGE_LINES = 1000
/** Most pages: twice the lines that a gateway keeps. Each page adds a line of its own. */
const PAGES_MAX = 80

const COLUMNS = 'TIME OPERATOR ADDRESS METHOD PATH STATUS ABOUT'.split(' ')
/** Fields with a column of their own, or with none. */
const FIXED = new Set([...COLUMNS.map((name) => name.toLowerCase()), 'number'])

/** Prints the lines of the audit log since some time, the oldest first. */
export async function runAudit(input: Input, output: Output): Promise<void> {
  const since = new Date(Date.now() - readSince(input) * 1000).toISOString()
  const lines: unknown[] = []
  let after: unknown = 0
  for (let pages = 0; pages < PAGES_MAX && typeof after === 'number'; pages++) {
    const query = new URLSearchParams({ since, after: String(after), limit: String(PAGE_LINES) })
    const page = recordOf(parseJson(await callGateway(input, 'GET', `/v1/audit?${query}`)))
    lines.push(...listOf(page.lines))
    after = page.next
  }
  printResponse(input, output, [`${JSON.stringify({ lines })}\n`, formatLines])
}

function readSince(input: Input): number {
  const text = input.text('since')
  const seconds = durationSeconds(text)
  const isTime = seconds !== undefined && seconds * 1000 <= Date.now()
  if (isTime) return seconds
  throw new CommandError(`--since is "${text}", expected a duration like 12h or 90d`)
}

function formatLines(value: unknown): string {
  const rows = listOf(recordOf(value).lines).map((line) => {
    const fields = recordOf(line)
    const { time, operator, address, method, path, status } = fields
    const about = Object.entries(fields)
      .filter(([name]) => !FIXED.has(name))
      .map(([name, fact]) => `${name}=${fact}`)
    return [time, operator, address, method, path, status, about.join(' ')].map(String)
  })
  return formatColumns([COLUMNS, ...rows])
}
