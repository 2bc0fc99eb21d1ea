package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/swarmseal/swarmseal/cmd/swarm/internal/survey"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
)

// member is an agent of the demo: what others find it by, and its work.
type member struct {
	card swarm.Card
	work agent.HandlerFunc
}

// folderLine is the line of a task that names the folder: a task has
// everything that its agent needs to know.
const folderLine = "Folder: "

// folderOf reads the folder out of a task. The demo's agents look at the one
// folder that the demo was started on, whatever a task says.
func folderOf(task, allowed string) (string, error) {
	for line := range strings.SplitSeq(task, "\n") {
		if dir, ok := strings.CutPrefix(line, folderLine); ok {
			if dir != allowed {
				return "", fmt.Errorf("this agent looks at %s alone, not at %s", survey.Quote(allowed), survey.Quote(dir))
			}
			return dir, nil
		}
	}
	return "", fmt.Errorf("the task names no folder: want a line %q", folderLine+"…")
}

// look makes a handler of a survey.
func look[R interface{ Text() string }](dir, tool string, survey func(context.Context, string) (R, error)) agent.HandlerFunc {
	return func(ctx context.Context, t *agent.Task) (string, error) {
		folder, err := folderOf(t.Input, dir)
		if err != nil {
			return "", err
		}
		end := t.Tool(tool, map[string]string{"folder": folder}, "reads the folder")
		report, err := survey(ctx, folder)
		end(nil, err)
		if err != nil {
			return "", err
		}
		return report.Text(), nil
	}
}

func members(dir string) []member {
	skill := func(id, name, description string, tags ...string) swarm.Card {
		return swarm.Card{
			Name: name, Summary: description, Tags: tags,
			Skills: []swarm.Skill{{ID: id, Name: name, Description: description, Tags: tags}},
		}
	}
	return []member{
		{skill("count-lines", "line counter", "Counts the source lines of code, comments and blanks in a folder, by programming language.", "code"),
			look(dir, "count_lines", survey.Lines)},
		{skill("read-modules", "module reader", "Reads the module dependencies out of go.mod, package.json and requirements.txt: versions, and which are indirect.", "code"),
			look(dir, "read_modules", survey.Modules)},
		{skill("detect-licences", "licence detector", "Detects under which open source licence (license) a folder's files are published.", "legal"),
			look(dir, "detect_licences", survey.Licences)},
		{skill("find-marks", "mark finder", "Finds TODO and FIXME marks that people left in files, and has the files looked through for secrets.", "code"),
			findMarks(dir)},
		{skill("find-secrets", "secret finder", "Finds strings that look like a secret: passwords, access tokens and private keys left in files.", "security"),
			look(dir, "find_secrets", func(ctx context.Context, dir string) (secrets, error) {
				report, err := survey.Marks(ctx, dir)
				return secrets{report}, err
			})},
		{skill("read-prose", "prose reader", "Measures the readability of prose such as a README: sentences, reading ease and reading time.", "text"),
			readProse(dir)},
		{skill("count-words", "word counter", "Counts the words, characters and most frequent words of one plain text that is handed in.", "text"),
			countWords},
		{skill("profile-tables", "table profiler", "Profiles the columns of CSV tables: types, nulls, distinct values and quantiles.", "data"),
			look(dir, "profile_tables", survey.Tables)},
	}
}

// countWords works on the text that comes with the task, below its first line.
func countWords(_ context.Context, t *agent.Task) (string, error) {
	_, text, ok := strings.Cut(t.Input, "\n\n")
	if !ok {
		return "", errors.New("the task has no text: want it below an empty line")
	}
	return survey.Words(text).Text(), nil
}

// secrets is the half of the report on marks that is about secrets.
type secrets struct{ survey.MarkReport }

func (s secrets) Text() string { return s.SecretsText() }

// findMarks looks for marks by itself and delegates on what is a specialist's
// work: the second hop.
func findMarks(dir string) agent.HandlerFunc {
	return func(ctx context.Context, t *agent.Task) (string, error) {
		folder, err := folderOf(t.Input, dir)
		if err != nil {
			return "", err
		}
		end := t.Tool("find_marks", map[string]string{"folder": folder}, "reads the folder")
		report, err := survey.Marks(ctx, folder)
		end(nil, err)
		if err != nil {
			return "", err
		}
		found, err := ask(ctx, t, "find strings that look like a secret, such as passwords and private keys",
			"Find secret-looking strings.\n"+folderLine+folder)
		if err != nil {
			found = "Secrets were not looked for: " + err.Error()
		}
		return fmt.Sprintf("%s\nSecrets, looked for by another agent:\n%s", strings.TrimRight(report.MarksText(), "\n"), found), nil
	}
}

// maxHandedOn bounds the text that is handed to the word counter.
const maxHandedOn = 256 << 10

// readProse measures by itself, and has the longest text's words counted by
// whoever counts words.
func readProse(dir string) agent.HandlerFunc {
	return func(ctx context.Context, t *agent.Task) (string, error) {
		folder, err := folderOf(t.Input, dir)
		if err != nil {
			return "", err
		}
		report, err := survey.Prose(ctx, folder)
		if err != nil {
			return "", err
		}
		answer := report.Text()
		if len(report.Files) == 0 {
			return answer, nil
		}
		name := report.Files[0].File
		text, err := survey.Plain(ctx, folder, name)
		if err != nil {
			return "", err
		}
		if text = strings.ToValidUTF8(text, "\uFFFD"); len(text) > maxHandedOn {
			text = strings.ToValidUTF8(text[:maxHandedOn], "")
			name += fmt.Sprintf(", its first %d kB", maxHandedOn>>10)
		}
		counted, err := ask(ctx, t, "count the words and characters of one plain text", "Count the words of this text.\n\n"+text)
		if err != nil {
			counted = "not counted: " + err.Error()
		}
		return fmt.Sprintf("%s\nThe words of %s, counted by another agent:\n%s", strings.TrimRight(answer, "\n"), name, counted), nil
	}
}

// ask finds an agent for a question and delegates the task to the first that
// there is.
func ask(ctx context.Context, t *agent.Task, question, task string) (string, error) {
	found, err := t.Find(ctx, swarm.Query{Text: question, TopK: 3})
	if err != nil {
		return "", err
	}
	if len(found.Results) == 0 {
		return "", fmt.Errorf("no agent was found who could %s", question)
	}
	outcome, err := t.Delegate(ctx, swarm.Request{To: found.Results[0].AgentID, Task: task})
	switch {
	case err != nil:
		return "", err
	case outcome.Error != nil:
		return "", errors.New(outcome.Error.Message)
	}
	return outcome.Output, nil
}

// part is a section of the report and the question by which its agent is found.
type part struct{ title, question, task string }

var parts = []part{
	{"Lines", "count source lines of code by programming language", "Count the source lines by language."},
	{"Modules", "read module dependencies and their versions out of go.mod", "List the module dependencies with their versions, and which are indirect."},
	{"Licences", "detect the open source licence of files", "Say under which licences the files are."},
	{"Marks", "find TODO and FIXME marks in files", "Find TODO and FIXME marks and secret-looking strings."},
	{"Prose", "measure the readability of prose", "Say how the folder's prose reads."},
	{"Tables", "profile a CSV table: types, nulls, quantiles", "Profile the CSV tables."},
}

// coordinate has the parts done side by side, and gives each section of the
// report as soon as those before it are there.
func coordinate(dir string) agent.HandlerFunc {
	return func(ctx context.Context, t *agent.Task) (string, error) {
		folder, err := folderOf(t.Input, dir)
		if err != nil {
			return "", err
		}
		type answer struct {
			text string
			err  error
		}
		answers := make([]chan answer, len(parts))
		for i, p := range parts {
			answers[i] = make(chan answer, 1)
			go func() {
				text, err := ask(ctx, t, p.question, p.task+"\n"+folderLine+folder)
				answers[i] <- answer{text, err}
			}()
		}
		var report strings.Builder
		say := func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			report.WriteString(text)
			t.Text(text)
		}
		say("Report on %s\n\nPlanned by search, without a language model: each part went to the first agent\nthat agent_find gave for its question.\n", survey.Quote(folder))
		failed := 0
		for i, p := range parts {
			a := <-answers[i]
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			if a.err != nil {
				failed++
				say("\n## %s\nThis part failed: %v\n", p.title, a.err)
				continue
			}
			say("\n## %s\n%s\n", p.title, strings.TrimRight(a.text, "\n"))
		}
		say("\n%d of %d parts done, %d failed.\n", len(parts)-failed, len(parts), failed)
		if failed == len(parts) {
			return "", errors.New("no part of the report could be done")
		}
		return report.String(), nil
	}
}
