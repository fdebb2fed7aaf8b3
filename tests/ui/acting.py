"""Actions of a visitor on a page: press, type, choose."""

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, Slider

from replicalab.ui.editor import TEXTS


def run(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception, app.exception
    return app


def labels(app: AppTest) -> list[str]:
    return [button.label for button in app.button]


def can_press(app: AppTest, label: str) -> bool:
    return next(not button.disabled for button in app.button if button.label == label)


def number(app: AppTest, label: str) -> NumberInput:
    return next(field for field in app.number_input if field.label == label)


def chosen(app: AppTest, label: str) -> list[str]:
    return list(next(field for field in app.multiselect if field.label == label).value)


def press(app: AppTest, label: str) -> AppTest:
    button = next(button for button in app.button if button.label == label)
    assert not button.disabled, f"{label} is disabled"
    button.click()
    return run(app)


def press_first(app: AppTest, start: str) -> AppTest:
    return press(app, next(label for label in labels(app) if label.startswith(start)))


def undo(app: AppTest) -> AppTest:
    return press_first(app, "Undo")


def type_number(app: AppTest, label: str, value: float | None) -> AppTest:
    number(app, label).set_value(value)
    return run(app)


def slider(app: AppTest, label: str) -> Slider[int]:
    return next(slider for slider in app.slider if slider.label == label)


def pull(app: AppTest, label: str, value: int) -> AppTest:
    slider(app, label).set_value(value)
    return run(app)


def type_text(app: AppTest, label: str, value: str) -> AppTest:
    fields = [*app.text_input, *app.text_area]
    next(field for field in fields if field.label == label).set_value(value)
    return run(app)


def open_texts(app: AppTest) -> AppTest:
    app.session_state[TEXTS] = True
    return run(app)


def choose(app: AppTest, label: str, *values: str) -> AppTest:
    next(field for field in app.multiselect if field.label == label).set_value(list(values))
    return run(app)


def choose_more(app: AppTest, name: str) -> AppTest:
    [menu] = app.menu_button
    menu.click(name)
    return run(app)


def pick(app: AppTest, label: str, value: object) -> AppTest:
    result = next(field for field in [*app.radio, *app.selectbox] if field.label.startswith(label))
    result.set_value(value)
    return run(app)
