/**
 * Prints what failed and why, what was skipped and why, and closes with `N passed, N failed`.
 * @module
 */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

const SLOW_MS = 5000

/** A reporter for `node --test`. */
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0
  let failed = 0
  for await (const event of source) {
    switch (event.type) {
      case 'test:pass': {
        const { name, skip, todo, details, file } = event.data
        if (skip !== undefined || todo !== undefined) {
          yield `skipped: ${name}: ${skip ?? todo}\n`
          break
        }
        if (details.type === 'suite') break
        passed++
        if (details.duration_ms > SLOW_MS) {
          yield `${Math.round(details.duration_ms)} ms: ${where(file)} ${name}\n`
        }
        break
      }
      case 'test:fail': {
        const { name, details, file, line } = event.data
        if (details.type === 'suite' && isBySubtests(details.error)) break
        failed++
        yield `\nFAILED ${where(file)}:${line} ${name}\n${indent(describe(details.error))}\n`
        break
      }
      case 'test:diagnostic':
        if (event.data.nesting > 0) yield `${event.data.message}\n`
        break
      case 'test:stderr':
      case 'test:stdout':
        yield event.data.message
        break
      default:
    }
  }
  yield `${passed} passed, ${failed} failed\n`
}

/** A suite fails with its tests, which are told of already; or by itself, as when a hook fails. */
function isBySubtests(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed'
}

function where(file: string | undefined): string {
  return file === undefined ? '' : relative(process.cwd(), file)
}

function describe(error: Error): string {
  const { cause } = error
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause ?? error.message)
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}
