/** A command of a shell block, as far as the pages use a shell. */
export interface Command {
  words: string[]
  /** Ends with `&`. */
  background: boolean
}

export interface CurlRequest {
  url: string
  method: string
  headers: Record<string, string>
  body: string | undefined
}

/**
 * The commands of a block: words with quotes, lines continued by a backslash, `$NAME` outside of single quotes, comments.
 * Throws for whatever else a shell can do, so that no page shows what is not understood here.
 */
export function parseCommands(text: string, variables: Record<string, string>): Command[] {
  const commands: Command[] = []
  let words: string[] = []
  let word: string | null = null
  const endWord = () => {
    if (word !== null) words.push(word)
    word = null
  }
  const endCommand = (background = false) => {
    endWord()
    if (words.length > 0) commands.push({ words, background })
    words = []
  }
  const variableAt = (i: number): { name: string; value: string } => {
    const name = /^\$(\w+)/.exec(text.slice(i))?.[1]
    if (name === undefined || !Object.hasOwn(variables, name))
      throw new Error(`not a variable that is set: ${text.slice(i, i + 30)}`)
    return { name, value: variables[name]! }
  }
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (character === '\n') endCommand()
    else if (/\s/.test(character)) endWord()
    else if (character === '\\' && text[i + 1] === '\n') {
      endWord()
      i++
    } else if (character === '#' && word === null) i = text.indexOf('\n', i) - 1
    else if (character === '&' && word === null) endCommand(true)
    else if (character === "'") {
      const end = text.indexOf("'", i + 1)
      word = (word ?? '') + text.slice(i + 1, end)
      i = end
    } else if (character === '"') {
      word ??= ''
      for (i++; text[i] !== '"'; i++) {
        if (text[i] !== '$') word += text[i]
        else {
          const { name, value } = variableAt(i)
          word += value
          i += name.length
        }
      }
    } else if (character === '$') {
      const { name, value } = variableAt(i)
      word = (word ?? '') + value
      i += name.length
    } else if (/[|;<>(){}*?`~&\\]/.test(character))
      throw new Error(`quote it, or do without: ${text.slice(i, i + 30)}`)
    else word = (word ?? '') + character
  }
  endCommand()
  return commands
}

/** What a curl command sends. */
export function curlRequest([program, ...words]: string[]): CurlRequest {
  if (program !== 'curl') throw new Error(`not curl: ${program}`)
  let url: string | null = null
  let method: string | null = null
  let body: string | undefined
  const headers: Record<string, string> = {}
  while (words.length > 0) {
    const word = words.shift()!
    if (word === '-s' || word === '-sS') continue
    if (word === '-X') method = words.shift()!
    else if (word === '-d') body = words.shift()!
    else if (word === '-H') {
      const [name, ...value] = words.shift()!.split(':')
      headers[name!] = value.join(':').trim()
    } else if (word.startsWith('-')) throw new Error(`an option of curl that the pages do not use: ${word}`)
    else url = word
  }
  if (url === null) throw new Error('a curl command without an address')
  return { url, method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body }
}
