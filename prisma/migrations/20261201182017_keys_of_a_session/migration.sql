-- CreateIndex
CREATE INDEX "api_key_session_id_idx" ON "api_key"("session_id");
