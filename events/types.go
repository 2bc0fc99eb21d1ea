package events

// Types of generation A: the type member of a frame's data, or the frame's
// event name. An unknown type is not an error; it stays in [Event.Type] as it
// came.
const (
	TypeThinkingStart  = "thinking_start"
	TypeThinkingEnd    = "thinking_end"
	TypeReasoningDelta = "reasoning_delta"
	TypeTextDelta      = "text-delta"
	TypeToolArgsDelta  = "tool_args_delta"
	TypeToolStart      = "tool_start"
	TypeToolEnd        = "tool_end"
	TypeTiming         = "timing"

	TypeAction        = "action"
	TypeTaskCompleted = "task.completed"
	TypeTaskBlocked   = "task.blocked"
	TypeTaskFailed    = "task.failed"
	TypeTaskHeartbeat = "task.heartbeat"

	TypePlanProposed          = "plan.proposed"
	TypeApprovalRequested     = "approval.requested"
	TypeApprovalDecided       = "approval.decided"
	TypePlanFeedbackRequested = "plan.feedback_requested"
	TypeHarnessPlanProposed   = "harness_plan_proposed" // older plan.proposed
	TypeHarnessPlanDecided    = "harness_plan_decided"  // older approval.decided

	TypeSwarmChildStart     = "swarm_child_start"
	TypeSwarmChildDelta     = "swarm_child_delta"
	TypeSwarmChildToolStart = "swarm_child_tool_start"
	TypeSwarmChildToolEnd   = "swarm_child_tool_end"
	TypeSwarmChildDone      = "swarm_child_done"
	TypeSwarmChildError     = "swarm_child_error"

	TypeConclave       = "conclave"
	TypeTrace          = "trace"
	TypeDone           = "done"
	TypeStopped        = "stopped"
	TypeError          = "error"
	TypeComposeError   = "compose.error"
	TypeReceipt        = "receipt"
	TypeComposeReceipt = "compose.receipt"

	// TypeGap says that the server no longer has the events between two ids:
	// {"type":"gap","runId","after","next","message"}, after being the last id
	// that the reader has and next the id of the event that follows. The run
	// goes on. It is ours; Compose's servers send none.
	TypeGap = "gap"

	// Workflow streams name their frames by the event alone.
	TypeStart    = "start"
	TypeProgress = "progress"
	TypeStep     = "step"
	TypeAgent    = "agent"
	TypeResponse = "response"
	TypeResult   = "result"
	TypeComplete = "complete"
)

// Types of generation B.
const (
	TypeActivityRun       = "activity.run"
	TypeActivityThinking  = "activity.thinking"
	TypeActivityTool      = "activity.tool"
	TypeActivitySelection = "activity.selection"
	TypeActivityPlan      = "activity.plan"
	TypeActivityConnector = "activity.connector"
	TypeActivityChild     = "activity.child"
	TypeActivityConclave  = "activity.conclave"
	TypeActivityMessage   = "activity.message"
	TypeActivityError     = "activity.error"

	TypeModelStart          = "model.start"
	TypeModelTextDelta      = "model.text.delta"
	TypeModelTextDone       = "model.text.done"
	TypeModelReasoningDelta = "model.reasoning.delta"
	TypeModelReasoningDone  = "model.reasoning.done"
	TypeModelToolDelta      = "model.tool.delta"
	TypeModelToolDone       = "model.tool.done"
	TypeModelAsset          = "model.asset"
	TypeModelStatus         = "model.status"
	TypeModelDone           = "model.done"
	TypeModelError          = "model.error"
)

// Types that no frame's data names.
const (
	// TypeDoneSentinel is data of [DONE], which closes many streams. A
	// receipt may still follow it.
	TypeDoneSentinel = "[DONE]"

	// TypeMalformed is a frame whose data starts like JSON and is none;
	// [Event.Err] says why.
	TypeMalformed = "malformed"
)

// interned maps each known type to its constant, so that the type of an
// ordinary frame costs no allocation.
var interned = func() map[string]string {
	m := make(map[string]string)
	for _, t := range []string{
		TypeThinkingStart, TypeThinkingEnd, TypeReasoningDelta, TypeTextDelta,
		TypeToolArgsDelta, TypeToolStart, TypeToolEnd, TypeTiming,
		TypeAction, TypeTaskCompleted, TypeTaskBlocked, TypeTaskFailed, TypeTaskHeartbeat,
		TypePlanProposed, TypeApprovalRequested, TypeApprovalDecided,
		TypePlanFeedbackRequested, TypeHarnessPlanProposed, TypeHarnessPlanDecided,
		TypeSwarmChildStart, TypeSwarmChildDelta, TypeSwarmChildToolStart,
		TypeSwarmChildToolEnd, TypeSwarmChildDone, TypeSwarmChildError,
		TypeConclave, TypeTrace, TypeDone, TypeStopped, TypeError, TypeComposeError,
		TypeReceipt, TypeComposeReceipt, TypeGap,
		TypeStart, TypeProgress, TypeStep, TypeAgent, TypeResponse, TypeResult, TypeComplete,
		TypeActivityRun, TypeActivityThinking, TypeActivityTool, TypeActivitySelection,
		TypeActivityPlan, TypeActivityConnector, TypeActivityChild, TypeActivityConclave,
		TypeActivityMessage, TypeActivityError,
		TypeModelStart, TypeModelTextDelta, TypeModelTextDone, TypeModelReasoningDelta,
		TypeModelReasoningDone, TypeModelToolDelta, TypeModelToolDone, TypeModelAsset,
		TypeModelStatus, TypeModelDone, TypeModelError,
	} {
		m[t] = t
	}
	return m
}()
