/**
 * Makes plugins read the sources that they answer from.
 * @module
 */
import { ConfigError, type Problem } from '../../corefile/problem.ts'
import type { Plugin } from '../contract/plugin.ts'

/**
 * Prepares plugins one after the other, so that the memory for reading is that of one.
 * @throws {ConfigError} with every mistake in the sources
 */
export async function preparePlugins(plugins: readonly Plugin[]): Promise<void> {
  const problems: Problem[] = []
  for (const { prepare } of plugins) {
    try {
      await prepare?.()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
}
