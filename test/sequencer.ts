/**
 * The order of the test files: the longest first, so that no worker is left with one at the end.
 * @module
 */
import { relative } from 'node:path'
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/**
 * The Worker's tests take seconds to start, the pure ones are short. Each change of project starts
 * a worker.
 */
const PROJECTS = ['worker', 'processes', 'pure']
/** What takes longest for its size, in this order; vitest sorts the others. */
const LONGEST = [
  'test/conformance/worker.test.ts',
  'test/conformance/',
  'test/server/serve/worker-pool.test.ts',
  'test/server/node/signals.test.ts',
  'test/demo/start.test.ts',
  'test/gateway/doh/items.test.ts',
]

/** A sequencer for vitest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => projectRank(a) - projectRank(b) || fileRank(a) - fileRank(b))
  }
}

function projectRank({ project }: TestSpecification): number {
  return PROJECTS.indexOf(project.name)
}

function fileRank({ moduleId }: TestSpecification): number {
  const path = relative(process.cwd(), moduleId)
  const rank = LONGEST.findIndex((start) => path.startsWith(start))
  return rank < 0 ? LONGEST.length : rank
}
