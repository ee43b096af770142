import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..', '..')

/** A fenced block of a page. */
export interface Block {
  /** The word behind the fence. */
  language: string
  text: string
  /** The line of the fence, as editors count. */
  line: number
}

export function readPage(name: string): Promise<string> {
  return readFile(join(root, name), 'utf8')
}

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(({ 1: language, 2: text, index }) => ({
    language: language!,
    text: text!,
    line: page.slice(0, index).split('\n').length,
  }))
}

/** The rows of every table that has this heading in its first column, as the texts of their cells. */
export function tableOf(page: string, firstHeading: string): string[][] {
  const cells = (line: string) =>
    line
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => cell.trim())
  const rows: string[][] = []
  let inTable = false
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) inTable = false
    else if (cells(line)[0] === firstHeading) inTable = true
    else if (inTable && !/^\|[\s|:-]+\|$/.test(line)) rows.push(cells(line))
  }
  return rows
}
