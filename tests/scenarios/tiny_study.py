"""One small valid study file, written as a scientist would, for tests to bend."""

STUDY_TEXT = """\
format: 1
scenario_id: tiny
domain_id: demo
paper:
  title: "A tiny study"
  citation: "Someone (2020). A tiny study."
  doi: "10.1000/tiny"
  hypothesis: "Tea is warmer than ice."
  method: "Measure both."
  key_finding: "It is."
  goal: "Measure both again."
  published: "n = 10, d = 1."
  caution: "None."
  teaches: "Patience."
  facts:
    - text: "Tea was warmer."
      source: "Table 1"
      confidence: verified
design:
  kind: two_group
  effect_published: 1.0
  effect_planning: 0.8
  sesoi: null
  alpha: 0.05
  target: 0.8
  floor: 0.5
  unit_of_n: "cups"
  population_max: null
  source: "Table 1"
success_criteria:
  - "p < 0.05"
hidden_reference:
  summary: "canary-summary"
  required_elements: ["canary-required"]
  flexible_elements: ["canary-flexible"]
  target_metric: "canary-metric"
  target_value: "canary-value"
constraints:
  - {key: heat, label: "heat", quantity: 90, unit: kelvin, comparator: "<=", hard: false}
equipment: ["kettle", "Thermometer", "ice box"]
reagents: ["tea", "water", "(-)-tea"]
substitutions:
  - original: "kettle"
    alternative: "pot"
    condition: "if clean"
    tradeoff: "Slower."
    fidelity_loss: 0
controls:
  - {name: "empty cup", droppable: true, protects_against: "a broken thermometer"}
policy_rules:
  - key: no_fire
    restriction: "No open fire."
    forbidden_phrases: ["open fire"]
min_days: 1
samples_per_day: null
reference_protocol:
  sample_size: 10
  controls: ["empty cup"]
  technique: "thermometry"
  duration_days: 2
  required_equipment: ["kettle"]
  required_reagents: ["tea"]
  rationale: "Warmth."
labs:
  easy:
    budget: 500
    days: 5
    staff: 2
  medium:
    budget: 400
    days: 4
    staff: 1
    booked: {"kettle": 6}
  hard:
    budget: 300
    days: 3
    staff: 1
    booked: {"kettle": 6, "thermometer": 2}
    out_of_stock: ["tea"]
"""
