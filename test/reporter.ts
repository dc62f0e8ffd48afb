/**
 * Prints failed tests with their full names and errors, tests that passed only when run again,
 * skipped tests with the reason, slow tests, and what tests print; closes with `N passed, N
 * failed`.
 * @module
 */
import { relative } from 'node:path'
import type { TestAnnotation, UserConsoleLog } from 'vitest'
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'
import { readSlowTurns } from './slow-turns.ts'

const SLOW_MS = 5000

/** An error as vitest passes it on from a worker. */
type PassedError = ReturnType<TestModule['errors']>[number]

/** A reporter for vitest. */
export class CountReporter implements Reporter {
  private passed = 0
  private failed = 0
  private readonly slowTurns: string | undefined

  /** @param slowTurns file of slow turns of event loops (`slow-turns.ts`), absent for none */
  constructor(slowTurns?: string) {
    this.slowTurns = slowTurns
  }

  /** Restarts the count: in watch mode there are several runs. */
  onTestRunStart(): void {
    this.passed = 0
    this.failed = 0
  }

  /** Counts a test, and prints whether it failed, was flaky or slow, or was skipped. */
  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    if (result.state === 'failed') this.fail(test, test.fullName, result.errors)
    if (result.state === 'skipped' && result.note !== undefined) {
      print(`skipped: ${test.fullName}: ${result.note}`)
    }
    if (result.state !== 'passed') return
    this.passed++
    const { duration: durationMs = 0, flaky: isFlaky = false } = test.diagnostic() ?? {}
    if (isFlaky) {
      const errors = (result.errors ?? []).map(describe).join('\n')
      print(`\nflaky: ${where(test.module)} ${test.fullName}: failed, then passed\n${errors}`)
    }
    if (durationMs > SLOW_MS) {
      print(`${Math.round(durationMs)} ms: ${where(test.module)} ${test.fullName}`)
    }
  }

  /** Prints the errors of hooks: those of tests have been printed. */
  onTestSuiteResult(suite: TestSuite): void {
    const errors = suite.errors()
    if (errors.length > 0) this.fail(suite, suite.fullName, errors)
  }

  /** Prints the errors of a file outside of its tests, such as a failed import. */
  onTestModuleEnd(module: TestModule): void {
    const errors = module.errors()
    if (errors.length > 0) this.fail(module, 'the file', errors)
  }

  onTestCaseAnnotate(_: TestCase, { message }: TestAnnotation): void {
    print(message)
  }

  onUserConsoleLog({ content }: UserConsoleLog): void {
    process.stdout.write(content)
  }

  /** Prints errors that no test waited for, and the closing line. */
  onTestRunEnd(_: readonly TestModule[], errors: readonly PassedError[]): void {
    for (const error of errors) {
      this.failed++
      print(`\nFAILED outside of a test\n${describe(error)}`)
    }
    this.printSlowTurns()
    print(`${this.passed} passed, ${this.failed} failed`)
  }

  private printSlowTurns(): void {
    if (this.slowTurns === undefined) return
    const { lines, failed } = readSlowTurns(this.slowTurns)
    for (const line of lines) print(line)
    this.failed += failed
    if (failed > 0) process.exitCode = 1
  }

  private fail(
    task: TestCase | TestSuite | TestModule,
    name: string,
    errors: readonly PassedError[],
  ): void {
    this.failed++
    const module = task.type === 'module' ? task : task.module
    const line = task.type === 'module' ? '' : `:${task.location?.line ?? '?'}`
    print(`\nFAILED ${where(module)}${line} ${name}\n${errors.map(describe).join('\n')}`)
  }
}

function where({ moduleId }: TestModule): string {
  return relative(process.cwd(), moduleId)
}

function describe({ stack, message, cause }: PassedError): string {
  const reason = cause === undefined ? '' : `\ncaused by ${cause.stack ?? cause.message}`
  return `${stack ?? message}${reason}`
    .replaceAll(/\n.*\/node_modules\/vitest\/.*$/gm, '')
    .replaceAll(/\?vitest=\d+/g, '')
    .replaceAll(/^/gm, '    ')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
