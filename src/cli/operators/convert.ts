/**
 * `kubedoh convert`: converts another system's configuration. Prints the Corefile on standard
 * output and a notice for everything that has no equivalent on standard error.
 * @module
 */

import { readDocuments } from '../../cluster/api/object-files.ts'
import { formatProblem, type Problem } from '../../corefile/problem.ts'
import { type Conversion, ConversionError, Settings } from '../../operators/convert/conversion.ts'
import { convertDnsmasq } from '../../operators/convert/dnsmasq.ts'
import { convertKubeDns } from '../../operators/convert/kube-dns.ts'
import { convertNodeLocal } from '../../operators/convert/nodelocal.ts'
import { convertOpenshift } from '../../operators/convert/openshift.ts'
import { convertSkydns } from '../../operators/convert/skydns.ts'
import type { Output } from '../../server/node/output.ts'
import { requireTextFile } from '../../server/node/read-files.ts'
import type { Input } from '../flags/flags.ts'
import { problemsElsewhere } from '../serve/check.ts'

/** Systems whose configuration can be converted. */
export type ConvertSource = 'openshift' | 'kube-dns' | 'nodelocal' | 'dnsmasq' | 'skydns'

/** Converts files. @throws {ConversionError} when one of them is invalid */
export async function runConvert(
  source: ConvertSource,
  input: Input,
  output: Output,
): Promise<void> {
  const settings = new Settings(input.texts('set'))
  const conversion = convert(source, input.args, settings)
  settings.checkUsed()
  const missing = await readBack(conversion)
  for (const notice of [...conversion.notices, ...missing.map(elsewhere)]) {
    output.stderr.write(`notice: ${notice}\n`)
  }
  output.stdout.write(conversion.corefile)
}

/**
 * Checks a Corefile before it is written; returns the files that it needs and this machine lacks.
 * @throws {ConversionError} if no server would start with it
 */
async function readBack({ corefile, fieldAt }: Conversion): Promise<readonly string[]> {
  const generated = { text: corefile, path: 'Corefile' }
  const { problems, missing } = await problemsElsewhere(generated)
  if (problems.length === 0) return missing
  const lines = problems.map((problem) => {
    const field = fieldAt(problem.line)
    return formatProblem(field === undefined ? problem : named(problem, field))
  })
  throw new ConversionError(['the Corefile would have errors:', ...lines].join('\n'))
}

function named(problem: Problem, field: string): Problem {
  return { ...problem, message: `${field}: ${problem.message}` }
}

function elsewhere(file: string): string {
  return `"${file}" is not on this machine; it must be where the Corefile is used`
}

function convert(source: ConvertSource, paths: readonly string[], settings: Settings): Conversion {
  switch (source) {
    case 'openshift':
      return convertOpenshift(paths.flatMap(readDocuments), settings)
    case 'kube-dns':
      return convertKubeDns(paths.flatMap(readDocuments), settings)
    case 'nodelocal':
      return convertNodeLocal(readNodeLocal(paths), settings)
    case 'dnsmasq':
      return convertDnsmasq(paths.map((path) => ({ path, text: requireTextFile(path) })))
    case 'skydns':
      return convertSkydns(paths.map(requireTextFile))
  }
}

/** Reads YAML and JSON files, recognised by name or first line, as objects; others as templates. */
function readNodeLocal(paths: readonly string[]): Parameters<typeof convertNodeLocal>[0] {
  const texts: string[] = []
  const documents: unknown[] = []
  for (const path of paths) {
    const text = requireTextFile(path)
    const isObject =
      /\.(json|ya?ml)$/.test(path) || /^\s*(\{|apiVersion:|#[^\n]*\n*apiVersion:)/.test(text)
    if (isObject) documents.push(...readDocuments(path))
    else texts.push(text)
  }
  return { texts, documents }
}
