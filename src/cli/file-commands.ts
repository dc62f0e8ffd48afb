/**
 * The commands for Corefiles and snapshots.
 * @module
 */
import type { CliCommand } from './command.ts'
import { CONVERT_COMMANDS } from './convert-commands.ts'

/** The commands, in the order of help. */
export const FILE_COMMANDS: readonly CliCommand[] = [
  {
    name: 'check',
    summary: 'report every error and warning in a Corefile without starting a server',
    args: ['[COREFILE]'],
    flags: ['files', 'for', 'plugins', 'issuers', 'cluster'],
    examples: [
      'kubedoh check',
      'kubedoh check /etc/coredns/Corefile',
      'kubedoh check Corefile --files /etc/coredns',
      'kubedoh check Corefile --for worker',
      'kubedoh check --issuers issuers.json',
      'kubedoh check --issuers issuers.json --cluster lab',
    ],
    run: async (input, output) => (await import('./serve/check.ts')).runCheck(input, output),
  },
  ...CONVERT_COMMANDS,
  {
    name: 'snapshot build',
    summary: 'build a snapshot from object files and write it to a folder',
    flags: ['objects', 'out', 'conf', 'cluster'],
    required: ['objects', 'out'],
    examples: ['kubedoh snapshot build --objects cluster.yaml --out snapshot'],
    run: async (input, output) =>
      (await import('./export/snapshot.ts')).runSnapshotBuild(input, output),
  },
  {
    name: 'snapshot dump',
    summary: 'print a snapshot in zone-file format',
    args: ['FOLDER'],
    examples: ['kubedoh snapshot dump snapshot | grep SRV'],
    run: async (input, output) =>
      (await import('./export/snapshot.ts')).runSnapshotDump(input, output),
  },
]
