/**
 * All commands, by purpose. A command imports its file when it runs, so that other commands start
 * fast.
 * @module
 */
import { CLIENT_COMMANDS } from './client-commands.ts'
import type { CliCommand, Purpose } from './command.ts'
import { FILE_COMMANDS } from './file-commands.ts'
import { GATEWAY_COMMANDS } from './gateway-commands.ts'
import { OPERATOR_COMMANDS } from './operator-commands.ts'
import { SERVER_COMMANDS } from './server-commands.ts'

/** Summaries of the groups of two-word commands, by the first word. */
export const GROUPS: Readonly<Record<string, string>> = {
  cluster: 'add, list and remove the clusters of a gateway, and rotate their keys',
  init: 'write the files of a new deployment',
  convert: "convert another system's configuration to a Corefile",
  router: 'route the paths of HostRoutes to their Services',
  snapshot: 'build and print snapshots without a gateway',
  token: 'manage the client tokens of a gateway',
}

const SHELL_COMMANDS: readonly CliCommand[] = [
  {
    name: 'completion',
    summary: 'print the completion script of a shell: bash, zsh or fish',
    args: ['SHELL'],
    examples: [
      'source <(kubedoh completion bash)   # or zsh; in ~/.bashrc or ~/.zshrc',
      'kubedoh completion fish > ~/.config/fish/completions/kubedoh.fish',
    ],
    run: async (input, output) => {
      const list = { commands: COMMANDS, groups: GROUPS }
      ;(await import('./completion.ts')).runCompletion(list, input, output)
    },
  },
  {
    name: 'man',
    summary: 'print the manual page',
    examples: ['kubedoh man | man -l -', 'kubedoh man > /usr/local/share/man/man1/kubedoh.1'],
    run: async (_, output) => {
      output.stdout.write((await import('./manual.ts')).formatManual(COMMANDS))
    },
  },
]

/** The commands by purpose, in the order of help. */
export const PURPOSES: readonly Purpose[] = [
  { title: 'Serve DNS in a cluster or on a node', commands: SERVER_COMMANDS },
  { title: 'Run a gateway and publish clusters to it', commands: GATEWAY_COMMANDS },
  { title: 'Operate a gateway', commands: OPERATOR_COMMANDS },
  { title: 'Resolve names and find faults', commands: CLIENT_COMMANDS },
  { title: 'Check, convert and build files', commands: FILE_COMMANDS },
  { title: 'Set up the shell', commands: SHELL_COMMANDS },
]

/** The commands, in the order of help. */
export const COMMANDS: readonly CliCommand[] = PURPOSES.flatMap(({ commands }) => commands)
