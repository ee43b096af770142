import { Anchor, Group, NativeSelect, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { ElicitationStatus } from '../generated/graphql.ts'
import { goTo, type HistoryFilters, statusChoices } from './history-filters.ts'

const typingMs = 300

export function Filters({ filters }: { filters: HistoryFilters }) {
  return (
    <Group component="search" gap="sm" align="flex-end">
      <NativeSelect
        label="Outcome"
        size="sm"
        flex="1 1 8rem"
        maw="16rem"
        value={filters.status ?? ''}
        onChange={(event) =>
          goTo(filters, { status: (event.currentTarget.value || null) as ElicitationStatus | null })
        }
      >
        <option value="">Any</option>
        {statusChoices.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </NativeSelect>
      <ToolFilter key={filters.tool === null ? 'none' : 'some'} filters={filters} />
      {(filters.active || filters.after) && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          pb={8}
          onClick={() => goTo(filters, { status: null, tool: null, session: null })}
        >
          {filters.session ? 'All sessions and outcomes' : 'Clear filters'}
        </Anchor>
      )}
    </Group>
  )
}

/** The exact name of a tool; searched for when the typing pauses. */
function ToolFilter({ filters }: { filters: HistoryFilters }) {
  const [tool, setTool] = useState(filters.tool ?? '')
  useEffect(() => {
    if (tool.trim() === (filters.tool ?? '')) return
    const timer = setTimeout(() => goTo(filters, { tool: tool.trim() || null }), typingMs)
    return () => clearTimeout(timer)
  }, [tool, filters])
  return (
    <TextInput
      label="Tool"
      placeholder="Exact name"
      size="sm"
      flex="1 1 8rem"
      maw="16rem"
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
      value={tool}
      onChange={(event) => setTool(event.currentTarget.value)}
    />
  )
}
