import { describe, expect, test } from 'vitest'
import { ownArguments, takeOption } from '../../src/runner/command-line.ts'
import { runtimeOf } from '../../src/runner/runtime.ts'

describe('a command line', () => {
  test('is the program, its options, and what stands behind the first --', () => {
    expect(ownArguments(['claude', '-p', '--', 'do', '--', 'it'])).toEqual({
      program: ['claude'],
      options: ['-p'],
      operands: ['--', 'do', '--', 'it'],
    })
    expect(ownArguments(['claude'])).toEqual({ program: ['claude'], options: [], operands: [] })
  })

  test.each([
    ['apart', ['a', '--x', '1', 'b'], ['1'], ['a', 'b']],
    ['joined', ['--x=1=2', 'b'], ['1=2'], ['b']],
    ['twice', ['--x', '1', '--x=2'], ['1', '2'], []],
    ['a value that looks like an option', ['--x', '--y'], ['--y'], []],
    ['without a value', ['a', '--x'], [], ['a', '--x']],
    ['a longer name', ['--xx', '1', '--xx=2'], [], ['--xx', '1', '--xx=2']],
  ])('gives up an option with one value: %s', (_, options, values, rest) => {
    expect(takeOption(options, '--x')).toEqual({ values, rest })
  })

  test('gives up an option with many values, up to the next option', () => {
    expect(takeOption(['--x', '1', '2', '-p', '3', '--x=4', '5'], '--x', { many: true })).toEqual({
      values: ['1', '2', '4'],
      rest: ['-p', '3', '5'],
    })
  })
})

test.each([
  [['claude', '-p'], 'claude_code'],
  [['/usr/local/bin/claude'], 'claude_code'],
  [['npx', '-y', '@anthropic-ai/claude-code@2', '-p'], 'claude_code'],
  [['codex', 'exec'], 'codex'],
  [['npx', '@openai/codex'], 'codex'],
  [['claude-wrapper'], 'other'],
  [['npx', 'something', 'claude'], 'other'],
  [[], 'other'],
])('the runtime of %j is %s', (command, runtime) => {
  expect(runtimeOf(command)).toBe(runtime)
})
