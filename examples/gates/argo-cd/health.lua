-- Health of an Evaluation for Argo CD: resource.customizations.health.oasis-operator.dev_Evaluation in argocd-cm.
-- Healthy means that a gate may rely on its PASS. Without this rule Argo CD takes every Evaluation for healthy at once.
local health = {status = "Progressing", message = "not evaluated yet"}
local spec, status = obj.spec or {}, obj.status or {}
local generation = obj.metadata.generation or 0

-- A status about an older spec or an older run says nothing.
if (status.observedGeneration or -1) < generation or (status.runToken or "") ~= (spec.runToken or "") then
  return health
end

local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function holds(kind)
  local condition = conditions[kind]
  return condition ~= nil and condition.status == "True" and condition.observedGeneration == generation
end

local told = conditions["Ready"]
if told ~= nil then
  health.message = (told.reason or "") .. ": " .. (told.message or "")
end

if holds("Complete") then
  local counts, gate = status.counts or {}, status.gateable or {}
  local sound = (counts.passed or 0) > 0 and (counts.providerFailures or 0) == 0
  if status.verdict == "PASS" and holds("Passed") and gate.allowed == true and sound then
    health.status = "Healthy"
  else
    health.status = "Degraded"
  end
elseif holds("Stalled") then
  health.status = "Degraded"
elseif spec.state == "Suspend" then
  health.status = "Suspended"
end
return health
