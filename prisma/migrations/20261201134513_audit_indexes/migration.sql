-- CreateIndex
CREATE INDEX "event_type_cursor_idx" ON "event"("type", "cursor");

-- CreateIndex
CREATE INDEX "event_actor_name" ON "event"("actor_name", "cursor") WHERE (actor_name is not null);

-- CreateIndex
CREATE INDEX "event_actor_kind" ON "event"("actor_kind", "cursor") WHERE (actor_kind in ('clock', 'sweep', 'runner', 'system'));

-- CreateIndex
CREATE INDEX "event_at_idx" ON "event"("at");
